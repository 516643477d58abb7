import { type Static, Type } from 'typebox';
import { gitRefPattern, gitUrlPattern } from '../git-url.ts';
import { limits } from '../limits.ts';
import { Conditions } from './condition.ts';
import type { KubernetesObject } from './object.ts';
import { cel, type CelRule, oneOf, timestamp } from './parts.ts';

/** Operations on a binding; a sync clones it, or brings what the server has now. */
export const gitOperations = ['sync', 'commit', 'push', 'status', 'diff'] as const;
export type GitOperation = (typeof gitOperations)[number];

const requestId = (description: string) =>
  Type.String({ minLength: 1, maxLength: limits.nameLength, pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$', description });

const GitRequest = Type.Object(
  {
    id: requestId('Says which request it is; another one is another operation.'),
    op: oneOf(gitOperations, { description: 'Operation that runs.' }),
    message: Type.Optional(
      Type.String({ minLength: 1, maxLength: limits.gitMessageLength, description: 'Message of a commit.' }),
    ),
  },
  { additionalProperties: false, description: 'The operation that was asked for last, beside the first sync.' },
);

const badRefs = ['..', '//', '/.', '@{', './', '.lock/'].map((part) => `!self.ref.contains('${part}')`).join(' && ');

/** Rules of a binding that its schema cannot say. */
const gitBindingRules: CelRule[] = [
  {
    rule: 'self.repo_url == oldSelf.repo_url',
    message: 'repo_url cannot be changed; make another binding',
    fieldPath: '.repo_url',
  },
  {
    rule: `!has(self.ref) || (${badRefs} && !self.ref.endsWith('/') && !self.ref.endsWith('.') && !self.ref.endsWith('.lock'))`,
    message: 'must be the name of a branch or a tag, or a commit, as git takes it',
    fieldPath: '.ref',
  },
  {
    rule: "!self.repo_url.startsWith('http://') || !has(self.credentials)",
    message: 'credentials are sent over https and ssh alone; leave them out or change repo_url',
    fieldPath: '.credentials',
  },
  {
    rule: "!self.repo_url.startsWith('ssh://') || has(self.credentials)",
    message: 'ssh needs credentials with the keys host, ssh-privatekey and known_hosts',
    fieldPath: '.repo_url',
  },
  {
    rule: "!has(self.request) || (self.request.op == 'commit') == has(self.request.message)",
    message: 'a commit has a message, and no other operation has one',
    fieldPath: '.request',
  },
];

/** A repository of a git server in a volume of the tenant (spec 3 §10.2, `svc.git.*`; ADR 0098). */
export const GitBindingSpec = Type.Object(
  {
    repo_url: Type.String({
      minLength: 1,
      maxLength: limits.gitUrlLength,
      pattern: gitUrlPattern,
      description: 'https://HOST/PATH, http://HOST/PATH or ssh://USER@HOST/PATH, without a password.',
    }),
    ref: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.gitRefLength,
        pattern: gitRefPattern,
        description: "Branch, tag or commit. Default: the server's own branch.",
      }),
    ),
    depth: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: limits.gitDepthMax,
        default: 1,
        description: 'Commits of the history that are fetched; 0: all.',
      }),
    ),
    size_limit_mb: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.volumeSizeMb,
        default: limits.gitVolumeMbDefault,
        description: 'Size of the volume in MiB. A tree with its history takes half of it at most.',
      }),
    ),
    credentials: Type.Optional(
      Type.Object(
        {
          secret: Type.Object(
            {
              name: Type.String({
                minLength: 1,
                maxLength: limits.objectNameLength,
                pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$',
                description:
                  'A Secret of the namespace. Its key host names the hosts that it is for; https: username and password, or token, and ca.crt; ssh: ssh-privatekey and known_hosts.',
              }),
            },
            { additionalProperties: false, description: 'Where the credentials are.' },
          ),
        },
        {
          additionalProperties: false,
          description: 'How the server knows the caller; sent to the host of repo_url alone.',
        },
      ),
    ),
    author: Type.Optional(
      Type.Object(
        {
          name: Type.String({ minLength: 1, maxLength: 128, pattern: '^[^<>\\x00-\\x1f]+$', description: 'Name.' }),
          email: Type.String({
            minLength: 1,
            maxLength: 254,
            pattern: '^[^<>\\s\\x00-\\x1f]+$',
            description: 'Address.',
          }),
        },
        { additionalProperties: false, description: 'Author of commits. Default: Windlass.' },
      ),
    ),
    refresh_seconds: Type.Optional(
      Type.Integer({
        minimum: limits.gitRefreshSecondsMin,
        maximum: 31_536_000,
        description: 'Time after which the binding is synced again by itself. Default: never.',
      }),
    ),
    request: Type.Optional(GitRequest),
  },
  { additionalProperties: false, ...cel(...gitBindingRules) },
);
export type GitBindingSpec = Static<typeof GitBindingSpec>;

const requestFields = {
  id: Type.String({ description: 'The request, or sync-GENERATION for a sync without a request.' }),
  op: oneOf(gitOperations, { description: 'Operation.' }),
  phase: oneOf(['running', 'succeeded', 'failed'], { description: 'Its state.' }),
  attempt: Type.Integer({ description: 'Which pod of the operation it is, from 1.' }),
  pod: Type.Optional(Type.String({ description: 'Name of the pod, once it was made.' })),
  started_at: Type.Optional(timestamp({ description: 'When it began.' })),
  finished_at: Type.Optional(timestamp({ description: 'When it ended.' })),
  error: Type.Optional(Type.String({ description: 'Word for the failure.' })),
  message: Type.Optional(Type.String({ description: 'Sentence about the failure.' })),
};

const GitSource = Type.Object(
  {
    ref: Type.Optional(Type.String({ description: 'spec.ref.' })),
    depth: Type.Integer({ description: 'spec.depth.' }),
    secret: Type.Optional(Type.String({ description: 'Name of spec.credentials.secret.' })),
  },
  {
    additionalProperties: false,
    description: 'Fields of the spec that the operation works by: those of its begin, whatever is written meanwhile.',
  },
);
export type GitSource = Static<typeof GitSource>;

const GitRequestStatus = Type.Object(
  { ...requestFields, source: Type.Optional(GitSource) },
  { additionalProperties: false, description: 'The newest operation.' },
);

const GitAnswer = Type.Object(
  {
    ...requestFields,
    output: Type.Optional(
      Type.String({ description: 'JSON with what status and diff found; it holds at most 64 KiB.' }),
    ),
  },
  { additionalProperties: false, description: 'The newest request of the spec that has ended.' },
);

export const GitBindingStatus = Type.Object(
  {
    observedGeneration: Type.Optional(Type.Integer()),
    conditions: Type.Optional(Conditions),
    phase: Type.Optional(oneOf(['pending', 'working', 'ready', 'failed'], { description: 'State of the binding.' })),
    volume: Type.Optional(
      Type.Object(
        {
          name: Type.String({ description: 'Name of the Volume.' }),
          uid: Type.String({ description: 'Its volume_id.' }),
        },
        { additionalProperties: false, description: 'Volume whose folder current is the tree.' },
      ),
    ),
    commit: Type.Optional(Type.String({ description: 'Commit that the tree comes from.' })),
    branch: Type.Optional(Type.String({ description: 'Branch that a push moves.' })),
    ahead: Type.Optional(Type.Boolean({ description: 'Whether the binding has commits that were not pushed.' })),
    bytes: Type.Optional(Type.Integer({ format: 'int64', description: 'Size of the files at the last sync.' })),
    synced_at: Type.Optional(timestamp({ description: 'When the last sync that succeeded ended.' })),
    sync_error: Type.Optional(Type.String({ description: 'Why the last sync failed; absent: it did not.' })),
    tried_source: Type.Optional(Type.String({ description: 'Fields of the spec that the last sync went by.' })),
    tried_at: Type.Optional(timestamp({ description: 'When it ended.' })),
    request: Type.Optional(GitRequestStatus),
    answered: Type.Optional(GitAnswer),
  },
  { additionalProperties: false },
);
export type GitBindingStatus = Static<typeof GitBindingStatus>;
export type GitBinding = KubernetesObject<'GitBinding', GitBindingSpec, GitBindingStatus>;
