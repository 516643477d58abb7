import type { SecurityContext } from '../../crds/schema/security-context.ts';
import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import type { CliTool } from '../../crds/schema/cli-tool.ts';
import { labels } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import { partlyKept } from '../../lib/api-spec/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { slimExecution } from '../../lib/execution/slim-execution.ts';
import {
  createInformer,
  createWholeObjects,
  type Informer,
  type ReflectorDeps,
  stripStrangers,
  type WholeOptions,
} from '../../lib/informer/index.ts';
import { securityContexts, workflowExecutions } from '../../lib/kinds.ts';
import type { KubeClient, KubeObject, Namespace } from '../../lib/kube/index.ts';
import {
  createTenantDirectory,
  createTenantInformer,
  type TenantDirectory,
  type TenantIndex,
} from '../../lib/tenant/tenant-directory.ts';

/** One cache for each kind that the gateway reads. Each area adds its own here. */
export interface GatewayInformers {
  readonly tenants: Informer<Namespace, TenantIndex>;
  readonly securityContexts: Informer<SecurityContext, 'namespace'>;
  /** Without their documents. */
  readonly apiSpecs: Informer<ApiSpec, 'namespace'>;
  /** With the number of their steps, and with their schemas where those are small. */
  readonly toolWorkflows: Informer<ToolWorkflow, 'namespace'>;
  /** Large ones with their names and descriptions alone. */
  readonly cliTools: Informer<CliTool, 'namespace'>;
  /** Executions of CLI tools: how far they are, and nothing of what they hold. */
  readonly cliRuns: Informer<WorkflowExecution>;
}

/** Objects of the cluster that the gateway knows, kept in step by watches. */
export interface GatewayCluster {
  readonly informers: GatewayInformers;
  readonly tenants: TenantDirectory;
  /** Every cache holds its first complete list. */
  readonly hasSynced: boolean;
  /** Resolves when every cache holds its first complete list. */
  readonly synced: Promise<unknown>;
  /** Follows the server until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

interface ClusterDeps {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly clock: Clock;
  /** Gives each kind its own observer. */
  readonly reflector: (kind: string) => ReflectorDeps;
  readonly systemTenant: string;
  readonly systemNamespace: string;
}

export function createGatewayCluster(deps: ClusterDeps): GatewayCluster {
  const { reflector, systemTenant, systemNamespace } = deps;
  const informers: GatewayInformers = {
    tenants: createTenantInformer(reflector('Namespace')),
    securityContexts: createInformer(reflector('SecurityContext'), {
      resource: securityContexts,
      parse: withSpec,
      strip: stripStrangers,
      indexes: { namespace: namespaceIndex },
    }),
    ...toolInformers(deps),
  };
  const all = Object.values(informers);
  return {
    informers,
    tenants: createTenantDirectory({ namespaces: informers.tenants.cache, systemTenant, systemNamespace }),
    get hasSynced() {
      return all.every(({ hasSynced }) => hasSynced);
    },
    synced: Promise.all(all.map((informer) => informer.synced)),
    async run(signal) {
      await Promise.all(all.map((informer) => informer.run(signal)));
    },
  };
}

/** Kinds that tools are made of; of a large object the cache keeps what lists and checks need. */
function toolInformers(
  deps: ClusterDeps,
): Pick<GatewayInformers, 'apiSpecs' | 'toolWorkflows' | 'cliTools' | 'cliRuns'> {
  const partOf = <T extends ApiSpec | ToolWorkflow | CliTool>(kept: Omit<WholeOptions<T>, 'kube' | 'clock'>) =>
    createInformer(deps.reflector(kept.resource.kind), {
      resource: kept.resource,
      parse: withSpec,
      wholes: createWholeObjects({ ...deps, ...kept }),
      indexes: { namespace: namespaceIndex },
    });
  return {
    apiSpecs: partOf(partlyKept.ApiSpec),
    toolWorkflows: partOf(partlyKept.ToolWorkflow),
    cliTools: partOf(partlyKept.CliTool),
    cliRuns: createInformer(deps.reflector('WorkflowExecution'), {
      resource: workflowExecutions,
      labelSelector: labels.cliTool,
      parse: withSpec,
      strip: slimExecution,
    }),
  };
}

/** The namespace of an object, for an index. */
export const namespaceIndex = ({ metadata }: KubeObject): string[] =>
  metadata.namespace === undefined ? [] : [metadata.namespace];

/** An object that got past the API server without a spec cannot be worked with. */
function withSpec<T extends KubeObject & { readonly spec: object }>(object: T): T {
  if (typeof object.spec !== 'object' || object.spec === null) throw new AppError('invalid', 'the object has no spec');
  return object;
}
