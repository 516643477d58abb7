import { busOptions, createEventBus, type EventBus } from '../lib/bus/index.ts';
import type { Clock } from '../lib/clock.ts';
import type { NewId } from '../lib/ids.ts';
import { type KubeClient, withFence } from '../lib/kube/index.ts';
import type { Logger } from '../lib/logger.ts';
import { createConfigMapStore } from '../lib/output-store/config-map-store.ts';
import { createLayeredStore } from '../lib/output-store/layered-store.ts';
import type { OutputStore } from '../lib/output-store/output-store.ts';
import { s3Options } from '../lib/output-store/s3-config.ts';
import { createS3Store } from '../lib/output-store/s3-store.ts';
import { checkPage, metricsPage } from '../lib/process/health-server.ts';
import type { ProcessRuntime } from '../lib/process/process-runtime.ts';
import { createTenantDirectory, type TenantDirectory } from '../lib/tenant/tenant-directory.ts';
import type { ControllersConfig } from './config.ts';
import { archiving } from './archiving.ts';
import { createDomainEvents } from './domain-events.ts';
import { createExecutionController } from './execution/controller.ts';
import { createInformers, endingNamespaces, type Informers } from './informers.ts';
import {
  type Controller,
  createController,
  createEventRecorder,
  type EventRecorder,
  type Keeper,
  type LeaseElection,
  type Metrics,
  runReplica,
  startKeeper,
} from './runtime/index.ts';
import { createTurnGate } from './runtime/turn-gate.ts';
import { createStimulusRouterReconcile } from './stimulus-router/reconcile.ts';
import { createVolumeReconcile, type VolumeSettings } from './volume/reconcile.ts';
import { connect, createWaiting } from './wiring.ts';
import { createWorkflowReconcile } from './workflow/reconcile.ts';

interface ProcessDeps {
  readonly config: ControllersConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly kube: KubeClient;
  readonly runtime: ProcessRuntime;
  /** The caches are filled, and no controller runs yet. */
  readonly onLoaded: () => void;
  /** Never the same for two processes. */
  readonly identity: string;
  readonly newId: NewId;
  readonly keeper: KeeperPlace;
}

/** The thread beside the main loop. */
interface KeeperPlace {
  /** Its module. */
  readonly file: string;
  /** Where it finds credentials. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Runs one replica of the controllers to its end; resolves to the exit code of the process. */
export async function runControllers(deps: ProcessDeps): Promise<number> {
  const { logger, metrics, clock, kube } = deps;
  const informers = createInformers(
    (kind) => ({ client: kube, clock, logger, observer: metrics.forReflector(kind) }),
    kube,
  );
  const keeper = await openKeeper(deps, informers);
  try {
    return await runWith(deps, informers, keeper.election);
  } finally {
    await keeper.close();
  }
}

async function runWith(deps: ProcessDeps, informers: Informers, elected: LeaseElection): Promise<number> {
  const { config, logger, metrics, clock, kube, runtime, newId } = deps;
  const election = config.WINDLASS_LEADER_ELECT ? elected : alone;
  const guard = (): void => election.assertLeader();
  const fenced = config.WINDLASS_LEADER_ELECT ? withFence(kube, guard) : kube;
  const recorder = createEventRecorder(
    { client: fenced, clock, logger, newId, onDropped: () => metrics.eventDropped() },
    { controller: 'windlass.dev/controllers', instance: deps.identity },
  );
  const bus = createEventBus(
    { clock, logger, observer: metrics.bus, random: Math.random },
    'windlass-controllers',
    busOptions(config),
  );
  const controllers = await createControllers({ ...deps, kube: fenced, guard, bus }, informers, recorder);
  observeExecutions(metrics, informers);
  try {
    return await runReplica({
      runtime,
      logger,
      election,
      recorder,
      informers: Object.values(informers),
      controllers,
      onSynced: deps.onLoaded,
      onLeading: (leading) => metrics.leader(leading),
    });
  } finally {
    await bus.close(busGraceMs);
  }
}

/** What the last events may take at the end of the process, while the bus is away. */
const busGraceMs = 2_000;

/** What the controllers need: a client that writes only while this replica leads, and the same guard by itself. */
interface ControllersDeps extends ProcessDeps {
  readonly guard: () => void;
  readonly bus: EventBus;
}

async function createControllers(
  deps: ControllersDeps,
  informers: Informers,
  events: EventRecorder,
): Promise<Controller[]> {
  const { kube, clock, config } = deps;
  const controller = controllerFactory(deps);
  const waiting = createWaiting();
  const workflowCaches = workflowCachesOf(informers);
  const volumeDeps = {
    volumes: informers.volumes.cache,
    claims: informers.claims.cache,
    pods: informers.pods.cache,
    settings: volumeSettings(config),
  };
  const isEnding = endingNamespaces(informers);
  const turns = createTurnGate();
  const store = createStore(deps);
  const tenants = directoryOf(deps, informers);
  const domainEvents = createDomainEvents({ events: deps.bus, clock, tenants });
  const controllers = {
    workflows: controller('Workflow', createWorkflowReconcile({ kube, clock, ...workflowCaches, isEnding, turns })),
    volumes: controller('Volume', createVolumeReconcile({ kube, clock, events, domainEvents, ...volumeDeps })),
    routers: controller('StimulusRouter', createRouterReconcile(deps, informers)),
    executions: await createExecutionController({
      ...deps,
      informers,
      events,
      domainEvents,
      waiting,
      controller,
      store,
      turns,
      createArchives: archiving({ ...deps, informers, tenants, store, turns }),
    }),
  };
  connect(informers, controllers, waiting);
  return Object.values(controllers);
}

const workflowCachesOf = ({ workflows, revisions, executions }: Informers) => ({
  workflows: workflows.cache,
  revisions: revisions.cache,
  executions: executions.cache,
  wholeWorkflow: workflows.whole,
  wholeRevision: revisions.whole,
});

function createRouterReconcile({ kube, clock, config }: ControllersDeps, informers: Informers) {
  return createStimulusRouterReconcile({
    kube,
    clock,
    routers: informers.routers.cache,
    workflows: informers.workflows.cache,
    tenants: informers.tenants.cache,
    systemNamespace: config.WINDLASS_LEASE_NAMESPACE,
  });
}

function directoryOf({ config }: ControllersDeps, { tenants }: Informers): TenantDirectory {
  return createTenantDirectory({
    namespaces: tenants.cache,
    systemTenant: config.WINDLASS_SYSTEM_TENANT,
    systemNamespace: config.WINDLASS_LEASE_NAMESPACE,
  });
}

function volumeSettings(config: ControllersConfig): VolumeSettings {
  const { WINDLASS_STORAGE_CLASS: storageClass } = config;
  return {
    accessMode: config.WINDLASS_VOLUME_ACCESS_MODE,
    defaultSizeMb: config.WINDLASS_VOLUME_SIZE_MB,
    ...(storageClass === undefined ? {} : { storageClass }),
  };
}

/** Makes the controller of a kind with what all of them share. */
export type ControllerFactory = (
  kind: string,
  reconcile: Parameters<typeof createController>[1]['reconcile'],
) => Controller;

function controllerFactory({ config, clock, logger, metrics, newId }: ProcessDeps): ControllerFactory {
  return (kind, reconcile) => {
    const controller = createController(
      { clock, logger, newId, observer: metrics.forController(kind) },
      { kind, reconcile, workers: config.WINDLASS_WORKERS },
    );
    metrics.queueAge(kind, () => controller.queue.oldestMs);
    return controller;
  };
}

/** Without election this replica leads from the start and for ever. */
const alone: LeaseElection = {
  run: (stop, onStarted) =>
    new Promise((resolve) => {
      onStarted?.();
      stop.addEventListener('abort', () => resolve('stopped'), { once: true });
    }),
  isLeaderNow: () => true,
  assertLeader: () => undefined,
};

/** Neither ConfigMaps nor a bucket may be written by a replica that no longer leads. */
function createStore({ kube, config, guard }: ControllersDeps): OutputStore {
  const configMaps = createConfigMapStore(kube);
  if (config.WINDLASS_OUTPUT_STORE === 'configmap') return configMaps;
  return createLayeredStore(createS3Store({ ...s3Options(config), guard }), configMaps);
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

function openKeeper(deps: ProcessDeps, informers: Informers): Promise<Keeper> {
  const { config, metrics, clock, logger, identity, keeper } = deps;
  const lagging = (): string | undefined => {
    const kinds = Object.entries(informers).filter(([, informer]) => !informer.hasSynced);
    return kinds.length === 0 ? undefined : `caches not synced: ${kinds.map(([kind]) => kind).join(', ')}`;
  };
  const lease = { namespace: config.WINDLASS_LEASE_NAMESPACE, name: config.WINDLASS_LEASE_NAME };
  return startKeeper(
    { clock, logger },
    {
      file: keeper.file,
      port: config.WINDLASS_HTTP_PORT,
      pages: { '/readyz': checkPage({ caches: lagging }), '/metrics': metricsPage(() => metrics.render()) },
      logLevel: config.WINDLASS_LOG_LEVEL,
      ...(config.WINDLASS_LEADER_ELECT ? { election: { lease, identity, env: keeper.env } } : {}),
    },
  );
}
