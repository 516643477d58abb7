import { type Static, Type } from 'typebox';
import { oneOf } from '../crds/schema/parts.ts';
import { archiveVariables } from '../lib/archive/archive-config.ts';
import { busVariables } from '../lib/bus/index.ts';
import { sealVariables } from '../lib/envelope/index.ts';
import { identityVariables } from '../lib/identity/index.ts';
import { edgeKeyVariables } from '../lib/keys/edge-key.ts';
import { logLevels } from '../lib/logger.ts';
import { nodeConfigVariables } from '../lib/node-config/index.ts';
import { s3Variables } from '../lib/output-store/s3-config.ts';
import { tenantSlugPattern } from '../lib/tenant/names.ts';
import { billingVariables } from './billing/index.ts';
import { grpcVariables } from './grpc/config.ts';

/** Environment variables of the sensors (docs/stimuli.md). */
const sensorVariables = {
  /** Standard input of the process is read: newline-delimited JSON, each line one stimulus. */
  WINDLASS_STDIN_SENSOR: Type.Boolean({ default: false }),
  /** Slug of the tenant whose stimuli they are; unset: the system tenant. */
  WINDLASS_STDIN_TENANT: Type.Optional(Type.String({ pattern: tenantSlugPattern })),
};

/** The environment variables of the API (charts/windlass/README.md). */
export const ApiConfig = Type.Object({
  WINDLASS_LOG_LEVEL: oneOf(logLevels, { default: 'info' }),
  /** spec 1 §1.7. */
  WINDLASS_HTTP_PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8_080 }),
  WINDLASS_INTERNAL_PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8_081 }),
  /** Address that both listeners bind to; unset: all. */
  WINDLASS_HTTP_HOST: Type.Optional(Type.String({ minLength: 1 })),
  /** Address under which clients reach the API, such as `https://windlass.example.com/`; unset: as they write it. */
  WINDLASS_PUBLIC_URL: Type.Optional(Type.String({ pattern: '^https?://[^\\s/?#]+/?$' })),
  /** Requests a tenant may send to one replica each second, averaged over ten; 0: any number. */
  WINDLASS_RATE_LIMIT_PER_SECOND: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 }),
  /** How long a stopping replica still takes requests, until load balancers know that it is not ready. */
  WINDLASS_DRAIN_SECONDS: Type.Integer({ minimum: 0, maximum: 15, default: 3 }),
  /** How long calls of agents' tools may take after the signal to stop, and what follows them. */
  WINDLASS_GRACE_SECONDS: Type.Integer({ minimum: 20, maximum: 890, default: 320 }),
  /** Namespace of the release, which holds the system tenant's objects. */
  WINDLASS_SYSTEM_NAMESPACE: Type.String({ minLength: 1, default: 'windlass-system' }),
  /** Image of the pods that tools of files need; it has `cat`. Unset: svc.file tools are not offered. */
  WINDLASS_SYSTEM_IMAGE: Type.Optional(Type.String({ minLength: 1 })),
  /** Image of the pods of GitBindings, which the controllers make. Unset: svc.git tools are not offered. */
  WINDLASS_GIT_IMAGE: Type.Optional(Type.String({ minLength: 1 })),
  /** Address of the tool gateway, whose registered tools agents call; unset: they are offered none (ADR 0084). */
  WINDLASS_GATEWAY_URL: Type.Optional(Type.String({ pattern: '^https?://[^\\s/?#]+/?$', maxLength: 2_048 })),
  /** Where daemons of edge hosts connect to, such as `edge.example.com:443`; unset: no host can be enrolled. */
  WINDLASS_EDGE_ENDPOINT: Type.Optional(
    Type.String({ pattern: '^(\\[[0-9a-fA-F:]+\\]|[^\\s:/]+):[0-9]{1,5}$', maxLength: 300 }),
  ),
  ...busVariables,
  ...archiveVariables,
  ...s3Variables,
  ...identityVariables,
  ...billingVariables,
  ...sealVariables,
  ...edgeKeyVariables,
  ...grpcVariables,
  ...sensorVariables,
  ...nodeConfigVariables,
});

export type ApiConfig = Readonly<Static<typeof ApiConfig>>;
