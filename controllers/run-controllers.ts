import type { Clock } from '../lib/clock.ts';
import type { NewId } from '../lib/ids.ts';
import { type KubeClient, withFence } from '../lib/kube/index.ts';
import type { Logger } from '../lib/logger.ts';
import { createConfigMapStore } from '../lib/output-store/config-map-store.ts';
import type { OutputStore } from '../lib/output-store/output-store.ts';
import type { ControllersConfig } from './config.ts';
import { createExecutionController } from './execution/controller.ts';
import { createInformers, type Informers } from './informers.ts';
import {
  type Controller,
  createController,
  createEventRecorder,
  createLeaseElection,
  type LeaseElection,
  type Metrics,
  type ProcessRuntime,
  runReplica,
  startHealthServer,
} from './runtime/index.ts';
import { createVolumeReconcile } from './volume/reconcile.ts';
import { connect, createWaiting } from './wiring.ts';
import { createWorkflowReconcile } from './workflow/reconcile.ts';

export interface ProcessDeps {
  readonly config: ControllersConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly kube: KubeClient;
  readonly runtime: ProcessRuntime;
  /** Never the same for two processes. */
  readonly identity: string;
  readonly newId: NewId;
}

/** Runs one replica of the controllers to its end; resolves to the exit code of the process. */
export async function runControllers(deps: ProcessDeps): Promise<number> {
  const { config, logger, metrics, clock, kube, runtime, newId } = deps;
  const election = createElection(deps);
  const fenced = config.WINDLASS_LEADER_ELECT ? withFence(kube, () => election.assertLeader()) : kube;
  const informers = createInformers((kind) => ({ client: kube, clock, logger, observer: metrics.forReflector(kind) }));
  const events = createEventRecorder(
    { client: fenced, clock, logger, newId, onDropped: metrics.eventDropped },
    { controller: 'windlass.dev/controllers', instance: deps.identity },
  );
  const waiting = createWaiting();
  const controller = controllerFactory(deps);
  const volumeSettings = {
    accessMode: config.WINDLASS_VOLUME_ACCESS_MODE,
    defaultSizeMb: config.WINDLASS_VOLUME_SIZE_MB,
    ...(config.WINDLASS_STORAGE_CLASS === undefined ? {} : { storageClass: config.WINDLASS_STORAGE_CLASS }),
  };
  const caches = { workflows: informers.workflows.cache, revisions: informers.revisions.cache };
  const controllers = {
    workflows: controller('Workflow', createWorkflowReconcile({ kube: fenced, clock, ...caches })),
    volumes: controller(
      'Volume',
      createVolumeReconcile({
        kube: fenced,
        clock,
        events,
        volumes: informers.volumes.cache,
        claims: informers.claims.cache,
        settings: volumeSettings,
      }),
    ),
    executions: await createExecutionController({
      ...deps,
      kube: fenced,
      informers,
      events,
      waiting,
      controller,
      store: createStore(fenced, config),
    }),
  };
  connect(informers, controllers, waiting);
  observeExecutions(metrics, informers);
  const health = await serveHealth(deps, informers);
  try {
    return await runReplica({
      runtime,
      logger,
      election,
      informers: Object.values(informers),
      controllers: Object.values(controllers),
      recorder: events,
      onLeading: (leading) => metrics.leader(leading),
    });
  } finally {
    await health.close();
  }
}

/** Makes the controller of a kind with what all of them share. */
export type ControllerFactory = (
  kind: string,
  reconcile: Parameters<typeof createController>[1]['reconcile'],
) => Controller;

function controllerFactory({ config, clock, logger, metrics, newId }: ProcessDeps): ControllerFactory {
  return (kind, reconcile) =>
    createController(
      { clock, logger, newId, observer: metrics.forController(kind) },
      { kind, reconcile, workers: config.WINDLASS_WORKERS },
    );
}

/** Without election this replica leads from the start and for ever. */
function createElection({ config, kube, clock, logger, identity }: ProcessDeps): LeaseElection {
  if (!config.WINDLASS_LEADER_ELECT) return alone;
  const lease = { namespace: config.WINDLASS_LEASE_NAMESPACE, name: config.WINDLASS_LEASE_NAME };
  return createLeaseElection({ client: kube, clock, logger }, { lease, identity });
}

const alone: LeaseElection = {
  run: (stop, onStarted) =>
    new Promise((resolve) => {
      onStarted?.();
      stop.addEventListener('abort', () => resolve('stopped'), { once: true });
    }),
  isLeaderNow: () => true,
  assertLeader: () => undefined,
};

function createStore(kube: KubeClient, _config: ControllersConfig): OutputStore {
  return createConfigMapStore(kube);
}

function observeExecutions(metrics: Metrics, { executions }: Informers): void {
  metrics.executionsByPhase(() => {
    const counts: Record<string, number> = {};
    for (const { status } of executions.cache.values()) {
      const phase = status?.phase ?? 'pending';
      counts[phase] = (counts[phase] ?? 0) + 1;
    }
    return counts;
  });
}

function serveHealth({ config, metrics }: ProcessDeps, informers: Informers) {
  const lagging = (): string | undefined => {
    const kinds = Object.entries(informers).filter(([, informer]) => !informer.hasSynced);
    return kinds.length === 0 ? undefined : `caches not synced: ${kinds.map(([kind]) => kind).join(', ')}`;
  };
  return startHealthServer({
    port: config.WINDLASS_HTTP_PORT,
    live: {},
    ready: { caches: lagging },
    metrics: () => metrics.render(),
  });
}
