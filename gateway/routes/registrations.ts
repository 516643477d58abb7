import type { ApiDocuments } from '../../lib/api-spec/index.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Route } from '../../lib/http/route.ts';
import type { NewId } from '../../lib/ids.ts';
import { type Informer, readInTurn } from '../../lib/informer/index.ts';
import { apiSpecs, cliTools, toolWorkflows } from '../../lib/kinds.ts';
import type { KubeClient, KubeObject } from '../../lib/kube/index.ts';
import type { OpenApiReader } from '../../lib/manifest/index.ts';
import type { GatewayInformers } from '../cluster/cluster.ts';
import type { Operator } from '../identity/operator.ts';
import type { Tenancy } from '../identity/tenancy.ts';
import type { ReplicaNews } from '../registry/replica-news.ts';
import type { RegistrationEvents } from '../registry/registration-events.ts';
import type { WholeReads } from '../registry/whole-reads.ts';
import { createRegistry } from '../registry/registry.ts';
import { toolRivals } from '../registry/rivals.ts';
import { createCliToolRoutes } from './cli-tools/index.ts';
import { createSpecRoutes } from './specs/index.ts';
import { createWorkflowRoutes } from './workflows/index.ts';

export interface RegistrationDeps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly openApi: OpenApiReader;
  /** Those of tool workflows that are called: what one has read, the other need not. */
  readonly documents: ApiDocuments;
  readonly registrations: Pick<RegistrationEvents, 'registered'>;
  readonly news: ReplicaNews;
  readonly tenancy: Tenancy;
  /** Steps that a tool workflow may have. Default: as many as the kind takes. */
  readonly stepsMax?: number;
  readonly cluster: { readonly informers: Pick<GatewayInformers, 'apiSpecs' | 'toolWorkflows' | 'cliTools'> };
}

const objectsOf = <T extends KubeObject>(informer: Informer<T, 'namespace'>): WholeReads<T> => ({
  weight: informer.weight,
  whole: readInTurn(informer),
});

/** Routes under which operators register APIs and tools. A name is unique over the tools of both kinds. */
export function createRegistrationRoutes(deps: RegistrationDeps): Route<Operator>[] {
  const { cluster } = deps;
  const { informers } = cluster;
  const rivals = toolRivals(informers);
  const specs = createRegistry({ ...deps, resource: apiSpecs, cache: informers.apiSpecs.cache });
  return [
    ...createSpecRoutes({ ...deps, registry: specs }),
    ...createWorkflowRoutes({
      ...deps,
      registry: createRegistry({ ...deps, resource: toolWorkflows, cache: informers.toolWorkflows.cache, rivals }),
      specs,
      objects: objectsOf(informers.toolWorkflows),
    }),
    ...createCliToolRoutes({
      ...deps,
      registry: createRegistry({ ...deps, resource: cliTools, cache: informers.cliTools.cache, rivals }),
      objects: objectsOf(informers.cliTools),
    }),
  ];
}
