import { busOptions, createEventBus } from '../lib/bus/index.ts';
import type { Clock } from '../lib/clock.ts';
import type { NewId } from '../lib/ids.ts';
import { type KubeClient, namespaces, withFence } from '../lib/kube/index.ts';
import type { Logger } from '../lib/logger.ts';
import type { NodeConfig } from '../lib/node-config/index.ts';
import { openOutputStore } from '../lib/output-store/open-output-store.ts';
import { checkPage, metricsPage } from '../lib/process/health-server.ts';
import type { ProcessRuntime } from '../lib/process/process-runtime.ts';
import { createTenantDirectory, tenantOfRead } from '../lib/tenant/tenant-directory.ts';
import { openSharedArchive } from './runtime/shared-archive.ts';
import type { ControllersConfig } from './config.ts';
import {
  type Controller,
  createController,
  createEventRecorder,
  type Keeper,
  type LeaseElection,
  type Metrics,
  runReplica,
  startKeeper,
} from './runtime/index.ts';
import { createFactSink } from './runtime/facts.ts';
import { type Informers, openInformers } from './runtime/informers.ts';
import type { Module, Services } from './runtime/module.ts';
import { createTurnGate } from './runtime/turn-gate.ts';
import { createServerReads, verdictBounds } from '../lib/server-reads.ts';
import { tenantInformer } from './tenants.ts';

interface ManagerDeps {
  readonly config: ControllersConfig;
  readonly nodeConfig: NodeConfig;
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

/**
 * Runs one replica with these modules to its end; resolves to the exit code of the process. Each module gets the caches
 * that it names, a queue with workers, metrics under its kind, and the services that all share.
 */
export async function runManager(deps: ManagerDeps, modules: readonly Module[]): Promise<number> {
  const { logger, metrics, clock, kube } = deps;
  const specs = [tenantInformer, ...modules.flatMap((module) => module.informers)];
  const informers = openInformers(specs, (kind) => {
    return { client: kube, kube, clock, logger, observer: metrics.forReflector(kind) };
  });
  const keeper = await openKeeper(deps, informers);
  try {
    return await runModules(deps, modules, informers, keeper.election);
  } finally {
    await keeper.close();
  }
}

/** Time limit of the last events at the end of the process, while the bus is away. */
const busGraceMs = 2_000;

async function runModules(
  deps: ManagerDeps,
  modules: readonly Module[],
  informers: Informers,
  elected: LeaseElection,
): Promise<number> {
  const { config, metrics } = deps;
  const election = config.WINDLASS_LEADER_ELECT ? elected : alone;
  const services = createServices(deps, informers, () => election.assertLeader());
  try {
    return await runReplica({
      runtime: deps.runtime,
      logger: deps.logger,
      election,
      recorder: services.events,
      informers: informers.all,
      controllers: (await Promise.all(modules.map((module) => startModule(deps, services, informers, module)))).flat(),
      onSynced: deps.onLoaded,
      onLeading: (leading) => metrics.leader(leading),
    });
  } finally {
    await services.bus.close(busGraceMs);
  }
}

/** Reads go to the server as they are, and writes only while this replica leads. */
function createServices(deps: ManagerDeps, informers: Informers, guard: () => void): Services {
  const { config, nodeConfig, logger, metrics, clock, newId, runtime } = deps;
  const kube = config.WINDLASS_LEADER_ELECT ? withFence(deps.kube, guard) : deps.kube;
  const bus = createEventBus(
    { clock, logger, observer: metrics.bus, random: Math.random },
    'windlass-controllers',
    busOptions(config),
  );
  const directory = {
    namespaces: informers.of(tenantInformer).cache,
    systemTenant: config.WINDLASS_SYSTEM_TENANT,
    systemNamespace: config.WINDLASS_LEASE_NAMESPACE,
  };
  const tenants = createTenantDirectory(directory);
  const readNamespace = createServerReads({ kube, clock, resource: namespaces, bounds: verdictBounds });
  const events = createEventRecorder(
    { client: kube, clock, logger, newId, onDropped: () => metrics.eventDropped() },
    { controller: 'windlass.dev/controllers', instance: deps.identity },
  );
  const facts = createFactSink({ events: bus, clock, tenants });
  const store = openOutputStore({ clock, kube, guard }, config);
  const archive = openSharedArchive({ bus, guard, clock, logger, registry: metrics.registry }, config);
  const turns = createTurnGate();
  const shared = { config, nodeConfig, kube, guard, clock, logger, newId, metrics, events, bus };
  const readTenant = async (name: string) => tenantOfRead(directory, name, await readNamespace({ name }));
  return { ...shared, facts, store, archive, tenants, readTenant, turns, runtime };
}

/** The controller of a module, and what the module runs beside it while this replica leads. */
async function startModule(
  { config, metrics }: ManagerDeps,
  services: Services,
  informers: Informers,
  module: Module,
): Promise<Pick<Controller, 'run'>[]> {
  const { kind } = module;
  const { clock, logger, newId } = services;
  const tasks: Pick<Controller, 'run'>[] = [];
  const late: { queue?: Controller['queue'] } = {};
  const reconcile = await module.start({
    ...services,
    informer: informers.of,
    wake: (key) => void (key !== undefined && late.queue?.add(key)),
    whileLeading: (run) => void tasks.push({ run }),
  });
  const observer = metrics.forController(kind);
  const controller = createController(
    { clock, logger, newId, observer },
    { kind, reconcile, workers: module.workers(config) },
  );
  metrics.queueAge(kind, () => controller.queue.oldestMs);
  late.queue = controller.queue;
  return [controller, ...tasks];
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

function openKeeper(deps: ManagerDeps, informers: Informers): Promise<Keeper> {
  const { config, metrics, clock, logger, identity, keeper } = deps;
  const lease = { namespace: config.WINDLASS_LEASE_NAMESPACE, name: config.WINDLASS_LEASE_NAME };
  return startKeeper(
    { clock, logger },
    {
      file: keeper.file,
      port: config.WINDLASS_HTTP_PORT,
      pages: {
        '/readyz': checkPage({ caches: () => informers.problem() }),
        '/metrics': metricsPage(() => metrics.render()),
      },
      logLevel: config.WINDLASS_LOG_LEVEL,
      ...(config.WINDLASS_LEADER_ELECT ? { election: { lease, identity, env: keeper.env } } : {}),
    },
  );
}
