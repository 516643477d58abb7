import { type Static, Type } from 'typebox';
import { mapOf, oneOf } from '../../crds/schema/parts.ts';
import { SecurityContextSpec } from '../../crds/schema/security-context.ts';

/** Names of labels and of security contexts: letters, digits, and `-_./` between them. */
const names = { pattern: '^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$', minLength: 1, maxLength: 253 };
const absolutePath = Type.String({ pattern: '^/', maxLength: 1_024 });

const { network: _, ...ofContext } = SecurityContextSpec.properties;
/** A security context of a host (requirements AMB-195). A host isolates no network, so it takes no `network`. */
const HostSecurityContext = Type.Object(ofContext, { additionalProperties: false });
type HostSecurityContext = Static<typeof HostSecurityContext>;

const Labels = mapOf(Type.String({ maxLength: 253 }), { propertyNames: names, maxProperties: 64 });
const Contexts = mapOf(HostSecurityContext, { propertyNames: names, maxProperties: 100 });

const Mount = Type.Object(
  { path: absolutePath, writable: Type.Optional(Type.Boolean({ default: false })) },
  { additionalProperties: false },
);

/** Limits of one command of `cmd.run`; setrlimit(2) has the meaning of each. */
const CommandLimits = Type.Object(
  {
    processes: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Processes of the user; root is not bound.' }),
    ),
    open_files: Type.Optional(Type.Integer({ minimum: 8, maximum: 1_000_000, description: 'Files of one process.' })),
    cpu_seconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 86_400, description: 'Processor time of one process.' }),
    ),
    memory_mib: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 16_777_216, description: 'Address space of one process.' }),
    ),
  },
  { additionalProperties: false },
);
export type CommandLimits = Static<typeof CommandLimits>;

/** The parts that a PushConfig may change. All others are the machine owner's alone (ADR 0068). */
const shared = { labels: Type.Optional(Labels), security_contexts: Type.Optional(Contexts) };

export const SharedConfig = Type.Object(shared, { additionalProperties: false });
export type SharedConfig = Static<typeof SharedConfig>;

/** The file of the machine's owner. */
export const LocalConfig = Type.Object(
  {
    ...shared,
    mounts: Type.Optional(Type.Array(Mount, { maxItems: 256 })),
    working_folder: Type.Optional(absolutePath),
    environment: Type.Optional(
      mapOf(Type.String({ maxLength: 4_096 }), {
        propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]*$', maxLength: 128 },
        maxProperties: 100,
      }),
    ),
    max_concurrent_commands: Type.Optional(Type.Integer({ minimum: 1, maximum: 64 })),
    command_timeout_secs: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
    limits: Type.Optional(CommandLimits),
    nice: Type.Optional(Type.Integer({ minimum: 0, maximum: 19 })),
    permitted_networks: Type.Optional(
      Type.Array(Type.String({ pattern: '^[0-9a-fA-F:.]+/[0-9]{1,3}$', maxLength: 64 }), { maxItems: 64 }),
    ),
    pushed_config: Type.Optional(oneOf(['accept', 'refuse'])),
  },
  { additionalProperties: false },
);
export type LocalConfig = Static<typeof LocalConfig>;
