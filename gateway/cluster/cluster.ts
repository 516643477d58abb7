import type { SecurityContext } from '../../crds/schema/agent.ts';
import { AppError } from '../../lib/errors.ts';
import { createInformer, type Informer, type ReflectorDeps, stripStrangers } from '../../lib/informer/index.ts';
import { securityContexts } from '../../lib/kinds.ts';
import type { KubeObject, Namespace } from '../../lib/kube/index.ts';
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
  /** Gives each kind its own observer. */
  readonly reflector: (kind: string) => ReflectorDeps;
  readonly systemTenant: string;
  readonly systemNamespace: string;
}

export function createGatewayCluster({ reflector, systemTenant, systemNamespace }: ClusterDeps): GatewayCluster {
  const informers: GatewayInformers = {
    tenants: createTenantInformer(reflector('Namespace')),
    securityContexts: createInformer(reflector('SecurityContext'), {
      resource: securityContexts,
      parse: withSpec,
      strip: stripStrangers,
      indexes: { namespace: namespaceIndex },
    }),
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

/** The namespace of an object, for an index. */
export const namespaceIndex = ({ metadata }: KubeObject): string[] =>
  metadata.namespace === undefined ? [] : [metadata.namespace];

/** An object that got past the API server without a spec cannot be worked with. */
export function withSpec<T extends KubeObject & { readonly spec: object }>(object: T): T {
  if (typeof object.spec !== 'object' || object.spec === null) throw new AppError('invalid', 'the object has no spec');
  return object;
}
