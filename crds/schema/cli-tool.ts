import { type Static, Type } from 'typebox';
import { imageReferencePattern } from '../image-reference.ts';
import { limits } from '../limits.ts';
import { patternRule } from '../rules/pattern-rule.ts';
import { memoryRules } from '../rules/state-rules.ts';
import { toolNameRules } from '../rules/tool-rules.ts';
import { registeredName } from './api-spec.ts';
import { Conditions } from './condition.ts';
import { containerFields, imageReference } from './container.ts';
import type { KubernetesObject } from './object.ts';
import { anySchema, cel, memoryPattern } from './parts.ts';

/** Names of folders and of a file, none of which is `.` or `..`: the path stays in the working directory, and is no template. */
const pathPattern = '^\\.?[A-Za-z0-9_-][A-Za-z0-9._-]*(/\\.?[A-Za-z0-9_-][A-Za-z0-9._-]*)*$';

const File = Type.Object(
  {
    path: Type.String({
      pattern: pathPattern,
      maxLength: limits.cliToolPathLength,
      description:
        'Path below workdir, as data/in.json; folders are made. The command does not run where the file is there.',
    }),
    content: Type.String({
      maxLength: limits.templateLength,
      description: 'Template, as {{input.FIELD}}; at most 131,071 bytes when it is rendered.',
    }),
  },
  { additionalProperties: false },
);

/** A command in a container, called as a tool (spec 3 §1.2, requirements AMB-196). No shell reads its arguments. */
export const CliToolSpec = Type.Object(
  {
    name: Type.Optional(registeredName('Name that agents call. Default: the name of the object.')),
    description: Type.String({
      minLength: 1,
      maxLength: limits.toolDescriptionLength,
      description: 'Shown in the listing of tools.',
    }),
    input_schema: anySchema({ description: 'JSON Schema of the arguments; its type is object.' }),
    image: imageReference(cel(patternRule(imageReferencePattern))),
    image_pull_policy: containerFields.image_pull_policy,
    registry_credentials: containerFields.registry_credentials,
    command: Type.Array(Type.String({ maxLength: limits.templateLength }), {
      minItems: 1,
      maxItems: limits.commandElements,
      description:
        'Runs in the container. Each element is a template, as {{input.FIELD}}, and becomes exactly one argument.',
    }),
    stdin: Type.Optional(
      Type.String({
        maxLength: limits.templateLength,
        description:
          'Template of the standard input, as {{input.FIELD}}; at most 131,071 bytes when it is rendered. Absent: it is empty.',
      }),
    ),
    files: Type.Optional(
      Type.Array(File, {
        maxItems: limits.cliToolFiles,
        description: 'Files that are written before the command runs.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['path'],
      }),
    ),
    env: containerFields.env,
    workdir: containerFields.workdir,
    timeout_seconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.cliToolTimeoutSecondsMax,
        default: limits.cliToolTimeoutSecondsDefault,
        description:
          'Longest time of the command. A call of a tool ends after ten minutes, the start of the pod included.',
      }),
    ),
    resources: Type.Optional(
      Type.Object(
        {
          cpu: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Millicores.' })),
          memory: Type.Optional(
            Type.String({
              pattern: memoryPattern,
              maxLength: limits.quantityLength,
              description: 'A quantity of Kubernetes above zero, as 512Mi.',
              ...cel(...memoryRules),
            }),
          ),
        },
        { additionalProperties: false, description: 'Resources of the container.' },
      ),
    ),
  },
  { additionalProperties: false, ...cel(...toolNameRules) },
);
export type CliToolSpec = Static<typeof CliToolSpec>;

export const CliToolStatus = Type.Object(
  {
    observedGeneration: Type.Optional(Type.Integer()),
    conditions: Type.Optional(Conditions),
    workflow: Type.Optional(
      Type.String({ description: 'Name of the Workflow that invocations run; it belongs to this object.' }),
    ),
  },
  { additionalProperties: false },
);
export type CliToolStatus = Static<typeof CliToolStatus>;

export type CliTool = KubernetesObject<'CliTool', CliToolSpec, CliToolStatus>;
