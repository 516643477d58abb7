import type { ApiDocuments } from '../../lib/api-spec/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { createProblemFinder } from '../../lib/credentials/index.ts';
import type { Route } from '../../lib/http/route.ts';
import type { NewId } from '../../lib/ids.ts';
import { type Informer, readInTurn } from '../../lib/informer/index.ts';
import { apiSpecs, cliTools, toolWorkflows } from '../../lib/kinds.ts';
import type { KubeClient, KubeObject } from '../../lib/kube/index.ts';
import type { OpenApiReader } from '../../lib/manifest/index.ts';
import type { GatewayInformers } from '../cluster/cluster.ts';
import type { Operator } from '../identity/operator.ts';
import type { Tenancy } from '../identity/tenancy.ts';
import type { ChangeEvents } from '../registry/change-events.ts';
import type { RegistrationEvents } from '../registry/registration-events.ts';
import { createRegistry } from '../registry/registry.ts';
import type { ReplicaNews } from '../registry/replica-news.ts';
import { toolRivals } from '../registry/rivals.ts';
import type { WholeReads } from '../registry/whole-reads.ts';
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
  readonly changes: ChangeEvents;
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
  const { apiSpecs: specs, toolWorkflows: workflows, cliTools: tools } = deps.cluster.informers;
  const rivals = toolRivals(deps.cluster.informers);
  const { ofSpecs, ofTools } = changesOf(deps);
  const findProblem = createProblemFinder(deps);
  const registry = createRegistry({ ...deps, changes: ofSpecs, resource: apiSpecs, cache: specs.cache });
  return [
    ...createSpecRoutes({ ...deps, registry, specs: specs.cache, workflows: workflows.cache, findProblem }),
    ...createWorkflowRoutes({
      ...deps,
      registry: createRegistry({
        ...deps,
        changes: undefined,
        resource: toolWorkflows,
        cache: workflows.cache,
        rivals,
      }),
      specs: registry,
      objects: objectsOf(workflows),
      findProblem,
    }),
    ...createCliToolRoutes({
      ...deps,
      registry: createRegistry({ ...deps, changes: ofTools, resource: cliTools, cache: tools.cache, rivals }),
      objects: objectsOf(tools),
    }),
  ];
}

const changesOf = ({ changes: events }: Pick<RegistrationDeps, 'changes'>) => ({
  ofSpecs: { events, made: 'ApiSpecRegistered', gone: 'ApiSpecDeleted' } as const,
  ofTools: { events, made: 'CliToolRegistered', gone: 'CliToolDeleted' } as const,
});
