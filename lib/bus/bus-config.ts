import { type Static, Type } from 'typebox';
import { ConfigError, type ConfigProblem } from '../config.ts';
import { gatewayAuditStream } from '../audit-chain/stream-name.ts';
import { conversationStream } from '../conversation/record.ts';
import { defined } from '../defined.ts';
import { edgeResultsStream } from '../edge/stream-name.ts';
import { keyBytes } from './kv/key-accounts.ts';

const url = String.raw`(nats|tls)://[^\s,/@]+`;
const path = Type.Optional(Type.String({ minLength: 1 }));

/** Environment variables of the event bus, the same for every process that uses it. */
export const busVariables = {
  /** Without it there is no bus: nothing is published, and what needs it answers that it is unavailable. */
  WINDLASS_NATS_URL: Type.Optional(Type.String({ pattern: `^${url}(,${url})*$` })),
  WINDLASS_NATS_USER: Type.Optional(Type.String({ minLength: 1 })),
  WINDLASS_NATS_PASSWORD: Type.Optional(Type.String({ minLength: 1 })),
  WINDLASS_NATS_CREDENTIALS_FILE: path,
  WINDLASS_NATS_CA_FILE: path,
  WINDLASS_NATS_CERT_FILE: path,
  WINDLASS_NATS_KEY_FILE: path,
  WINDLASS_NATS_REPLICAS: Type.Integer({ minimum: 1, maximum: 5, default: 1 }),
  WINDLASS_EVENTS_MAX_AGE_HOURS: Type.Integer({ minimum: 1, maximum: 87_600, default: 168 }),
  WINDLASS_EVENTS_MAX_MB: Type.Integer({ minimum: 1, maximum: 1_048_576, default: 1_024 }),
  WINDLASS_AUDIT_MAX_AGE_HOURS: Type.Integer({ minimum: 1, maximum: 87_600, default: 2_160 }),
  WINDLASS_AUDIT_MAX_MB: Type.Integer({ minimum: 1, maximum: 1_048_576, default: 1_024 }),
  WINDLASS_CONVERSATIONS_MAX_MB: Type.Integer({ minimum: 1, maximum: 1_048_576, default: 1_024 }),
  WINDLASS_EDGE_RESULTS_MAX_MB: Type.Integer({ minimum: 1, maximum: 1_048_576, default: 1_024 }),
  WINDLASS_KEYS_MAX_MB: Type.Integer({ minimum: 1, maximum: 1_048_576, default: 128 }),
};

export const BusConfig = Type.Object(busVariables);
export type BusConfig = Readonly<Static<typeof BusConfig>>;

/** How long a stream keeps events; whichever bound is reached first drops the oldest. */
export interface Retention {
  readonly maxAgeMs: number;
  readonly maxBytes: number;
}

/** How the bus is reached, and what its streams keep. */
export interface BusOptions {
  readonly servers: readonly string[];
  readonly user?: string;
  readonly password?: string;
  readonly credentialsFile?: string;
  /** Present: the connection has to be encrypted. */
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
  /** Copies of each stream and bucket: 1 to 5, no more than there are servers. */
  readonly replicas: number;
  readonly events: Retention;
  readonly audit: Retention;
  /** Idempotency keys of all tenants that are taken in a day. */
  readonly keysMax: number;
  /** Most bytes of streams by name, in place of what their definitions say. */
  readonly streamBytes?: Readonly<Record<string, number>>;
}

/**
 * Configuration of the bus from the environment; undefined where it names none.
 * @throws ConfigError for half a pair, such as a user without a password.
 */
export function busOptions(config: BusConfig): BusOptions | undefined {
  const { WINDLASS_NATS_URL: servers } = config;
  if (servers === undefined) return undefined;
  const problems = [
    ...halfPair(config, 'WINDLASS_NATS_USER', 'WINDLASS_NATS_PASSWORD'),
    ...halfPair(config, 'WINDLASS_NATS_CERT_FILE', 'WINDLASS_NATS_KEY_FILE'),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
  const tls = tlsOf(config);
  return {
    servers: servers.split(','),
    ...defined({
      user: config.WINDLASS_NATS_USER,
      password: config.WINDLASS_NATS_PASSWORD,
      credentialsFile: config.WINDLASS_NATS_CREDENTIALS_FILE,
    }),
    ...(tls === undefined ? {} : { tls }),
    replicas: config.WINDLASS_NATS_REPLICAS,
    events: retention(config.WINDLASS_EVENTS_MAX_AGE_HOURS, config.WINDLASS_EVENTS_MAX_MB),
    audit: retention(config.WINDLASS_AUDIT_MAX_AGE_HOURS, config.WINDLASS_AUDIT_MAX_MB),
    keysMax: Math.floor((config.WINDLASS_KEYS_MAX_MB * 1_048_576) / keyBytes),
    streamBytes: {
      [conversationStream]: config.WINDLASS_CONVERSATIONS_MAX_MB * 1_048_576,
      [gatewayAuditStream]: config.WINDLASS_AUDIT_MAX_MB * 1_048_576,
      [edgeResultsStream]: config.WINDLASS_EDGE_RESULTS_MAX_MB * 1_048_576,
    },
  };
}

/** Encryption is asked for by the scheme of any server, or by naming a file that only serves it. */
function tlsOf(config: BusConfig): BusOptions['tls'] {
  const files = defined({
    caFile: config.WINDLASS_NATS_CA_FILE,
    certFile: config.WINDLASS_NATS_CERT_FILE,
    keyFile: config.WINDLASS_NATS_KEY_FILE,
  });
  const asked = config.WINDLASS_NATS_URL?.includes('tls://') ?? false;
  return asked || Object.keys(files).length > 0 ? files : undefined;
}

function halfPair(config: BusConfig, ...[first, second]: [keyof BusConfig, keyof BusConfig]): ConfigProblem[] {
  if ((config[first] === undefined) === (config[second] === undefined)) return [];
  const [absent, set] = config[first] === undefined ? [first, second] : [second, first];
  return [{ name: absent, problem: `is not set; it belongs to ${set}` }];
}

const retention = (hours: number, megabytes: number): Retention => ({
  maxAgeMs: hours * 3_600_000,
  maxBytes: megabytes * 1_048_576,
});
