import { type Static, Type } from 'typebox';
import { imageReferencePattern } from '../image-reference.ts';
import { limits } from '../limits.ts';
import { stateNamePattern } from '../reserved-names.ts';
import { memoryRules, stepRules } from '../rules/state-rules.ts';
import { backoffPattern, cel, durationPattern, mapOf, memoryPattern, oneOf, pullSecretPattern } from './parts.ts';

const ContainerVolume = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: limits.nameLength,
      description: 'workspace, or the name of a shared volume.',
    }),
    mount_path: Type.String({ pattern: '^/', maxLength: 1_024, description: 'Absolute path in the container.' }),
    read_only: Type.Optional(Type.Boolean({ default: false, description: 'Whether it may only be read.' })),
  },
  { additionalProperties: false },
);

const Resources = Type.Object(
  {
    cpu: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Millicores.' })),
    memory: Type.Optional(
      Type.String({
        pattern: memoryPattern,
        maxLength: limits.quantityLength,
        description: 'A quantity of Kubernetes above zero, as 512Mi, 1.5Gi or 512M.',
        ...cel(...memoryRules),
      }),
    ),
    timeout: Type.Optional(
      Type.String({
        pattern: durationPattern,
        default: limits.containerTimeoutDefault,
        description: 'Hard limit of one attempt.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Limits of the command.' },
);

export const environment = mapOf(Type.String({ maxLength: limits.templateLength }), {
  maxProperties: limits.mapEntries,
  description: 'Environment variables. Each value is a template.',
});
export const workdir = Type.String({
  pattern: '^/',
  maxLength: 1_024,
  default: limits.workdirDefault,
  description: 'Where the command runs.',
});

/** A text that names an image; `options` are more keywords of its schema. */
export const imageReference = (options: object = {}) =>
  Type.String({
    minLength: 1,
    maxLength: limits.imageReferenceLength,
    pattern: imageReferencePattern,
    description: 'Reference of the container image, as registry.example.org/team/app:1.2.',
    ...options,
  });

/** Fields that a ContainerRun and a step of a ParallelContainerRun share (spec 1 §2.6). */
export const containerFields = {
  image: imageReference(),
  image_pull_policy: Type.Optional(
    oneOf(['Always', 'IfNotPresent', 'Never'], {
      default: 'IfNotPresent',
      description: 'When the image is pulled.',
    }),
  ),
  command: Type.Array(Type.String({ maxLength: limits.templateLength }), {
    minItems: 1,
    maxItems: limits.commandElements,
    description: "Runs instead of the image's entry point. Each element is a template.",
  }),
  shell: Type.Optional(
    Type.Boolean({ default: false, description: 'Join the elements with blanks and pass them to sh -c.' }),
  ),
  env: Type.Optional(environment),
  workdir: Type.Optional(workdir),
  volumes: Type.Optional(
    Type.Array(ContainerVolume, {
      maxItems: limits.volumes,
      description: 'Volumes that are mounted into the container.',
    }),
  ),
  resources: Type.Optional(Resources),
  registry_credentials: Type.Optional(
    Type.String({
      pattern: pullSecretPattern,
      description:
        'NAME or NAME/KEY of a pull secret in the namespace of the execution; KEY is .dockerconfigjson or .dockercfg, as kubelets read no other.',
    }),
  ),
};

/** spec 1 §2.6, `retry`; the delay before attempt k ≥ 2 is backoff · 2^(k−2) (requirements AMB-078). */
export const Retry = Type.Object(
  {
    max_attempts: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.retryAttemptsMax,
        default: limits.retryAttemptsDefault,
        description: 'Attempts in all, the first included.',
      }),
    ),
    backoff: Type.Optional(
      Type.String({
        pattern: backoffPattern,
        default: limits.retryBackoffDefault,
        description: 'Delay before the second attempt; doubles after.',
      }),
    ),
  },
  { additionalProperties: false, description: 'How often a failed command is run again.' },
);

/** One step of a ParallelContainerRun: the fields of a ContainerRun but `retry`, and a name of its own. */
export const Step = Type.Object(
  {
    name: Type.String({
      pattern: stateNamePattern,
      description: 'Unique; the key of the result in the Blackboard entry.',
    }),
    ...containerFields,
  },
  { additionalProperties: false, ...cel(...stepRules) },
);

const Container = Type.Object(containerFields, { additionalProperties: false });
export type ContainerFields = Static<typeof Container>;
export type Step = Static<typeof Step>;
export type Retry = Static<typeof Retry>;
