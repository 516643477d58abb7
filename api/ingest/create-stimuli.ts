import type { Registry } from 'prom-client';
import type { StimulusRouter } from '../../crds/schema/stimulus-router.ts';
import { notConfiguredProblem } from '../../lib/bus/absent-bus.ts';
import { buckets, type EventBus } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { type NewId, newUuid } from '../../lib/ids.ts';
import type { CacheReader } from '../../lib/informer/index.ts';
import { stimulusRouters } from '../../lib/kinds.ts';
import type { KubeClient } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import { createServerReads, lookUpBounds } from '../../lib/server-reads.ts';
import { createCatchUp } from '../cluster/catch-up.ts';
import type { Cluster } from '../cluster/index.ts';
import type { Classifier } from './classifier.ts';
import { createIngest } from './create-ingest.ts';
import { createDeliveries, type AcceptedDelivery } from './deliveries.ts';
import type { Ingest } from './ingest.ts';
import type { KeyReservation } from './reservation.ts';
import { followPatterns } from './patterns.ts';
import { createReservations } from './reservations.ts';
import { createRoutingTable, type RoutingTable } from './routing-table.ts';
import { createSettler } from './settler.ts';
import { findExecution } from './start-execution.ts';
import { createStimuliMetrics, observeIngest, type StimuliObserver } from './stimuli-observer.ts';

interface StimuliDeps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly bus: EventBus;
  readonly cluster: Cluster;
  /** Slug of the tenant that owns sources without a route. */
  readonly systemTenant: string;
  readonly classifier?: Classifier;
  /** Where to count. */
  readonly registry: Registry;
}

/** The use case behind all transports, and its background work. */
export interface Stimuli {
  readonly ingest: Ingest;
  readonly table: RoutingTable;
  readonly newStimulusId: NewId;
  readonly observer: StimuliObserver;
  /** Works until `signal` aborts; call it when the caches are filled. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

export function createStimuli(deps: StimuliDeps): Stimuli {
  const { kube, clock, logger, bus, cluster } = deps;
  const bucket = bus.bucket<KeyReservation>(buckets.idempotency);
  const reservations = createReservations({
    bucket,
    clock,
    findExecution: async (namespace, id) => (await findExecution(kube, namespace, id))?.metadata.uid,
  });
  const settler = createSettler({ bucket, reservations, clock, logger });
  const table = createTable(deps, cluster.informers.routers.cache);
  const { workflows, executions } = cluster;
  const observer = createStimuliMetrics(deps.registry);
  const ingest = createIngest({
    ...deps,
    newStimulusId: newUuid,
    table,
    workflows,
    executions,
    reservations,
    deliveries: createDeliveries(bus.bucket<AcceptedDelivery>(buckets.idempotency)),
    settler,
    events: bus,
  });
  return {
    table,
    newStimulusId: newUuid,
    observer,
    ingest: observeIngest(ingest, observer),
    run(signal) {
      settler.resume(cluster.informers.executions.cache.values());
      followPatternsUntil(deps, signal);
      return settler.run(signal);
    },
  };
}

/** Without NATS there are no events to learn from. */
function followPatternsUntil({ bus, kube, clock, logger, cluster }: StimuliDeps, signal: AbortSignal): void {
  if (bus.problem() === notConfiguredProblem) return;
  const { tenants, informers } = cluster;
  const subscription = followPatterns({ bus, kube, clock, logger, tenants, routers: informers.routers.cache });
  signal.addEventListener('abort', () => void subscription.close(patternsGraceMs), { once: true });
}

const patternsGraceMs = 1_000;

type RouterCache = CacheReader<StimulusRouter, 'namespace' | 'source'>;

function createTable({ kube, clock, cluster, systemTenant }: StimuliDeps, routers: RouterCache): RoutingTable {
  const catchUp = createCatchUp({ kube, clock, resource: stimulusRouters, cache: routers });
  return createRoutingTable({
    clock,
    routers,
    tenants: cluster.tenants,
    systemTenant,
    current: createServerReads({ kube, clock, resource: stimulusRouters, cache: routers, bounds: lookUpBounds }),
    catchUp: (namespace, probe) => catchUp.find({ namespace, tenant: namespace }, probe),
  });
}
