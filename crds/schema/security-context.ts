import { type Static, Type } from 'typebox';
import { limits } from '../limits.ts';
import { networkPattern } from '../network.ts';
import { denyPattern, shortToolGlobPattern } from '../tool-name.ts';
import type { KubernetesObject } from './object.ts';
import { cel, type CelRule, mapOf, oneOf } from './parts.ts';
import { pathPattern } from './path-pattern.ts';

/** Names have no place here: what a name means changes, and a NetworkPolicy knows addresses (ADR 0100). */
const ListedNetwork = Type.Object(
  {
    cidr: Type.String({
      pattern: networkPattern,
      maxLength: 43,
      description: 'Addresses, such as 10.1.0.0/16 or 2001:db8::/48; one address is 10.1.2.3/32.',
    }),
    ports: Type.Array(Type.Integer({ minimum: 1, maximum: 65_535 }), {
      minItems: 1,
      maxItems: limits.listedPorts,
      description: 'TCP ports.',
    }),
  },
  { additionalProperties: false },
);
export type ListedNetwork = Static<typeof ListedNetwork>;

const lists = ['tools', 'deny_list', 'path_allowlist', 'domain_allowlist'] as const;
const commands = 'subcommand_allowlist';

const chargeOf = (text: string): string => `${text}.size() + ${limits.contextTextCharge}`;
const sumOf = (list: string): string => `${list}.map(t, ${chargeOf('t')}).sum()`;
const ifThere = (field: string, sum: string): string => `(has(self.${field}) ? ${sum} : 0)`;

/** Rules of the spec of a SecurityContext. */
export const securityContextRules: CelRule[] = [
  {
    rule: "has(self.networks) == (has(self.network) && self.network == 'listed')",
    message: 'networks: is the list of network: listed, and is there with it alone',
  },
  {
    rule: `${[
      ...lists.map((field) => ifThere(field, sumOf(`self.${field}`))),
      ifThere(commands, `self.${commands}.map(c, ${chargeOf('c')} + ${sumOf(`self.${commands}[c]`)}).sum()`),
    ].join(' + ')} <= ${limits.contextTextsLength}`,
    message:
      `${lists.join(', ')} and ${commands}: have more than ${limits.contextTextsLength} characters together, ` +
      `where each text counts as ${limits.contextTextCharge} more; use fewer or shorter texts`,
  },
];

/** requirements AMB-195: deny wins; an absent list allows nothing of its kind but tools, which default to all. */
export const SecurityContextSpec = Type.Object(
  {
    tools: Type.Optional(
      Type.Array(
        Type.String({
          minLength: 1,
          maxLength: limits.toolNameLength,
          pattern: shortToolGlobPattern,
          description: 'Name of a tool, in which * is any text; 8 times at most. There is no other wildcard.',
        }),
        {
          maxItems: 200,
          description: 'Tools that may be called, as globs. Default: all.',
        },
      ),
    ),
    deny_list: Type.Optional(
      Type.Array(
        Type.String({
          minLength: 1,
          maxLength: limits.toolNameLength,
          pattern: denyPattern,
          description:
            'Name of a tool, in which * is any text, 8 times at most, or an absolute path or glob, or `volume:NAME/…`.',
        }),
        {
          maxItems: 200,
          description:
            'Tools that may not be called, and paths that fs.* and svc.file.* tools may not touch, as globs; wins over tools.',
        },
      ),
    ),
    path_allowlist: Type.Optional(
      Type.Array(pathPattern, {
        maxItems: 100,
        description: 'Paths that fs.* and svc.file.* tools may touch, as globs.',
      }),
    ),
    domain_allowlist: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 253 }), {
        maxItems: 200,
        description: 'Hosts that web.* tools may ask: a host, or *.suffix.',
      }),
    ),
    subcommand_allowlist: Type.Optional(
      mapOf(Type.Array(Type.String({ maxLength: 128 }), { maxItems: 100 }), {
        maxProperties: 100,
        description: 'Commands that cmd.run may run, with the first arguments that each may have.',
      }),
    ),
    git_secrets: Type.Optional(
      Type.Array(
        Type.String({
          minLength: 1,
          maxLength: limits.objectNameLength,
          pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$',
        }),
        {
          maxItems: limits.contextGitSecrets,
          description:
            'Secrets of the namespace of the call that svc.git.clone may use, by their whole names; whose writer must be able to get them. Default: none.',
        },
      ),
    ),
    network: Type.Optional(
      oneOf(['none', 'listed'], {
        default: 'none',
        description:
          'none: the container reaches DNS and the API alone. listed: also what networks lists. web.* tools follow domain_allowlist in both.',
      }),
    ),
    networks: Type.Optional(
      Type.Array(ListedNetwork, {
        minItems: 1,
        maxItems: limits.listedNetworks,
        description: 'Addresses that the container reaches, for network: listed.',
      }),
    ),
    max_calls: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 100_000, description: 'Tool calls of one execution, signed ones included.' }),
    ),
    tier: Type.Optional(
      oneOf(['user', 'tenant-admin', 'operator'], {
        description:
          'Whose context it is; svc.edge.* tools need tenant-admin or operator, whose writer must be able to create fleetruns. Default: user.',
      }),
    ),
  },
  {
    additionalProperties: false,
    ...cel(...securityContextRules),
  },
);
export type SecurityContextSpec = Static<typeof SecurityContextSpec>;
export const SecurityContextStatus = Type.Object(
  { observedGeneration: Type.Optional(Type.Integer()) },
  { additionalProperties: false },
);
export type SecurityContextStatus = Static<typeof SecurityContextStatus>;
export type SecurityContext = KubernetesObject<'SecurityContext', SecurityContextSpec, SecurityContextStatus>;
