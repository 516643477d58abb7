import { type Static, Type } from 'typebox';
import { limits } from '../crds/limits.ts';
import { oneOf } from '../crds/schema/parts.ts';
import { archiveVariables } from '../lib/archive/archive-config.ts';
import { busVariables } from '../lib/bus/index.ts';
import { edgeKeyVariables } from '../lib/keys/edge-key.ts';
import { logLevels } from '../lib/logger.ts';
import { nodeConfigVariables } from '../lib/node-config/index.ts';
import { s3Variables } from '../lib/output-store/s3-config.ts';
import { tenantSlugPattern } from '../lib/tenant/names.ts';

/** Networks with commas between them. */
const networks = Type.String({ pattern: '^[0-9A-Fa-f.:]+/[0-9]{1,3}(,[0-9A-Fa-f.:]+/[0-9]{1,3})*$', maxLength: 4_096 });

/** The environment variables of the controllers (charts/windlass/README.md). */
export const ControllersConfig = Type.Object({
  WINDLASS_LOG_LEVEL: oneOf(logLevels, { default: 'info' }),
  WINDLASS_HTTP_PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 9_090 }),
  WINDLASS_WORKERS: Type.Integer({ minimum: 1, maximum: 256, default: 16 }),
  WINDLASS_EXECUTION_TTL_SECONDS: Type.Integer({ minimum: 0, default: limits.executionTtlSecondsDefault }),
  WINDLASS_RUNNER_IMAGE: Type.String({ minLength: 1 }),
  WINDLASS_RUNNER_MOUNT: oneOf(['auto', 'image-volume', 'init-container'], { default: 'auto' }),
  WINDLASS_SYSTEM_IMAGE: Type.String({ minLength: 1, default: 'docker.io/library/busybox:1.36' }),
  /** Image with git of the pods of GitBindings; unset: no binding is synced. */
  WINDLASS_GIT_IMAGE: Type.Optional(Type.String({ minLength: 1 })),
  /** Internal networks that git servers may be in. */
  WINDLASS_GIT_ALLOW_INTERNAL_ADDRESSES: Type.Optional(networks),
  /** Networks of nodes, pods and Services, of which no wider network opens an address for git servers. */
  WINDLASS_GIT_CLUSTER_NETWORKS: Type.Optional(networks),
  WINDLASS_STEP_RUN_AS_USER: Type.Integer({ minimum: 1, maximum: 2_147_483_647, default: 65_532 }),
  WINDLASS_STEP_CPU_REQUEST: Type.String({ minLength: 1, default: '10m' }),
  WINDLASS_STEP_MEMORY_REQUEST: Type.String({ minLength: 1, default: '16Mi' }),
  WINDLASS_STEP_EPHEMERAL_STORAGE: Type.String({ minLength: 1, default: '8Gi' }),
  WINDLASS_STEP_WORKDIR_SIZE: Type.String({ minLength: 1, default: '4Gi' }),
  WINDLASS_STEP_ALWAYS_PULL: Type.Boolean({ default: false }),
  WINDLASS_STEP_DO_NOT_DISRUPT: Type.Boolean({ default: false }),
  WINDLASS_STEP_NODE_LOST_SECONDS: Type.Integer({ minimum: 0, maximum: 86_400, default: 60 }),
  /** Address of the API's internal listener as pods of agents see it. */
  WINDLASS_AGENT_GATEWAY: Type.String({
    minLength: 1,
    default: 'http://windlass-api-internal.windlass-system.svc:8081',
  }),
  WINDLASS_STORAGE_CLASS: Type.Optional(Type.String({ minLength: 1 })),
  WINDLASS_VOLUME_ACCESS_MODE: oneOf(['ReadWriteMany', 'ReadWriteOnce'], { default: 'ReadWriteMany' }),
  WINDLASS_VOLUME_SIZE_MB: Type.Integer({ minimum: 1, default: 1_024 }),
  WINDLASS_OUTPUT_STORE: oneOf(['configmap', 's3'], { default: 'configmap' }),
  ...s3Variables,
  ...busVariables,
  ...archiveVariables,
  ...nodeConfigVariables,
  ...edgeKeyVariables,
  /** Slug of the tenant that the release's namespace belongs to, which is also the namespace of the Lease. */
  WINDLASS_SYSTEM_TENANT: Type.String({ pattern: tenantSlugPattern, default: 'system' }),
  WINDLASS_LEADER_ELECT: Type.Boolean({ default: true }),
  WINDLASS_LEASE_NAME: Type.String({ minLength: 1, default: 'windlass-controllers' }),
  WINDLASS_LEASE_NAMESPACE: Type.String({ minLength: 1, default: 'windlass-system' }),
  WINDLASS_POD_NAME: Type.Optional(Type.String({ minLength: 1 })),
});
export type ControllersConfig = Readonly<Static<typeof ControllersConfig>>;
