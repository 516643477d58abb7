import type { KeyObject } from 'node:crypto';
import type { RunRecords } from '../../api/routes/edge/fleet/ports.ts';
import { createRunRecords } from '../../api/routes/edge/fleet/records.ts';
import { createHostLists } from '../../controllers/fleet-run/begin/ask-surroundings.ts';
import { createCommandSender } from '../../controllers/fleet-run/commands/command-sender.ts';
import { createNewsReader } from '../../controllers/fleet-run/view/news-reader.ts';
import { abandon } from '../../controllers/fleet-run/deletion.ts';
import { serveOpenRecords } from '../../controllers/fleet-run/view/serve-records.ts';
import { createHeapBudget, type HeapBudget } from '../../controllers/fleet-run/heap-budget.ts';
import type { CommandSender } from '../../controllers/fleet-run/commands/command.ts';
import type { NewsWriter } from '../../controllers/fleet-run/drive/stand-in-results.ts';
import { createFleetRunReconcile } from '../../controllers/fleet-run/reconcile.ts';
import { createArgumentPool, createKeepArgs } from '../../controllers/fleet-run/commands/run-arguments.ts';
import { OpenViews } from '../../controllers/fleet-run/view/open-views.ts';
import { HeapRoom } from '../../controllers/fleet-run/view/heap-room.ts';
import { createController } from '../../controllers/runtime/controller.ts';
import type { Fact } from '../../controllers/runtime/facts.ts';
import type { ReconcileResult } from '../../controllers/runtime/outcome.ts';
import { createTurnGate } from '../../controllers/runtime/turn-gate.ts';
import type { EdgeGroup } from '../../crds/schema/edge-group.ts';
import { type EdgeHost, edgeHostName } from '../../crds/schema/edge-host.ts';
import type { FleetRun, FleetRunSpec } from '../../crds/schema/fleet-run.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { createEdgeResults, createRecentCommands } from '../../lib/edge/index.ts';
import { slimEdgeGroup } from '../../lib/edge/slim-edge-group.ts';
import { slimEdgeHost } from '../../lib/edge/slim-edge-host.ts';
import { AppError } from '../../lib/errors.ts';
import { createOutputReader } from '../../lib/execution/output-reader.ts';
import { createFairPool, type FairPool } from '../../lib/fair-pool.ts';
import { fleetHostOf, nodeIdOfHost } from '../../lib/fleet/fleet-host.ts';
import type { NodeRecord } from '../../lib/fleet/node-record.ts';
import { slimFleetRun } from '../../lib/fleet/slim-fleet-run.ts';
import { newId } from '../../lib/ids.ts';
import { createCache } from '../../lib/informer/cache.ts';
import { type ConfigMap, KubeError, type KubeObject } from '../../lib/kube/index.ts';
import { createConfigMapStore } from '../../lib/output-store/config-map-store.ts';
import { createFleetCapable } from '../../lib/tools/fleet-capable.ts';
import { applied, type JsonPatch } from './json-patch.ts';
import { silentLogger } from './silent-logger.ts';

/** The API server as far as a run meets it: one run, and the ConfigMaps of its record. */
export class FleetServer {
  run: FleetRun;
  writes = 0;
  /** Deleted, and held by no finalizer any more. */
  isGone = false;
  readonly maps = new Map<string, ConfigMap>();
  /** EdgeHosts by name, as they are read one by one. */
  readonly hosts = new Map<string, EdgeHost>();
  /** Those that a list shows, and that are read for verdicts; undefined: as the cache has them. */
  listed: readonly EdgeHost[] | undefined;
  readonly groups: EdgeGroup[] = [];
  /** Plurals of what was read for verdicts. */
  readonly asked: string[] = [];

  constructor(spec: Partial<FleetRunSpec>) {
    this.run = {
      apiVersion: 'windlass.dev/v1',
      kind: 'FleetRun',
      metadata: {
        name: 'run',
        namespace: 'tenant-acme',
        uid: `run-${newId()}`,
        resourceVersion: '1',
        generation: 1,
        creationTimestamp: new Date(Date.now() - 60_000).toISOString(),
      },
      spec: { target: { All: null }, tool: 'cmd.run', args: { command: 'id' }, requested_by: 'ada', ...spec },
    };
  }

  readonly kube = {
    list: async ({ plural }: { plural: string }) => {
      this.asked.push(plural);
      return { metadata: {}, items: plural === 'edgegroups' ? this.groups : (this.listed ?? []) };
    },
    get: async (resource: { plural: string }, { name }: { name: string }) => {
      if (resource.plural === 'edgegroups') this.asked.push('edgegroup');
      const found = this.#find(resource.plural, name);
      if (found === undefined) throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'x' });
      return found;
    },
    create: async (_: unknown, object: KubeObject) => {
      this.maps.set(object.metadata.name ?? '', object as ConfigMap);
      return object;
    },
    strategicPatch: async (_: unknown, object: unknown) => object,
    delete: async () => undefined,
    jsonPatch: async (_: unknown, __: unknown, patch: JsonPatch) => this.#write(patch),
    jsonPatchStatus: async (_: unknown, __: unknown, patch: JsonPatch) => {
      const run = this.#write(patch);
      this.writes += 1;
      return run;
    },
  };

  #find(plural: string, name: string): KubeObject | undefined {
    if (plural === 'fleetruns') return this.#there;
    if (plural === 'edgegroups') return this.groups.find(({ metadata }) => metadata.name === name);
    return (plural === 'edgehosts' ? this.hosts : this.maps).get(name);
  }

  get #there(): FleetRun | undefined {
    return this.isGone ? undefined : this.run;
  }

  #write(patch: JsonPatch): FleetRun {
    const read = patch.find(({ path }) => path === '/metadata/resourceVersion')?.value;
    if (this.isGone) throw new KubeError(404, { reason: 'NotFound' }, { verb: 'patch', resource: 'x' });
    if (read !== this.run.metadata.resourceVersion) {
      throw new KubeError(409, { reason: 'Conflict' }, { verb: 'patch', resource: 'x' });
    }
    const version = String(Number(this.run.metadata.resourceVersion) + 1);
    const next = applied(this.run, patch);
    this.run = { ...next, metadata: { ...next.metadata, resourceVersion: version } };
    this.#collect();
    return this.run;
  }

  #collect(): void {
    const { deletionTimestamp, finalizers = [] } = this.run.metadata;
    this.isGone ||= deletionTimestamp !== undefined && finalizers.length === 0;
  }

  get status() {
    return this.run.status ?? {};
  }

  /** A change by a client. */
  change(fields: { readonly spec?: Partial<FleetRunSpec>; readonly metadata?: Partial<FleetRun['metadata']> }): void {
    const { spec, metadata } = this.run;
    const resourceVersion = String(Number(metadata.resourceVersion) + 1);
    this.run = {
      ...this.run,
      spec: { ...spec, ...fields.spec },
      metadata: { ...metadata, ...fields.metadata, resourceVersion },
    };
  }

  /** A deletion by a client. */
  delete(): void {
    this.change({ metadata: { deletionTimestamp: new Date().toISOString() } });
    this.#collect();
  }
}

/** A process of the controllers. */
export interface FleetProcess {
  readonly facts: Fact[];
  readonly views: OpenViews;
  /** Reasons of the Events that it wrote. */
  readonly events: string[];
  /** Hosts as the cache has them from now on. */
  see(hosts: readonly EdgeHost[]): void;
  wake(): void;
  /** One look at the run, beside those of its queue, and when it asks for the next. */
  look(): Promise<ReconcileResult>;
  /** The cache has seen that the run is gone. */
  gone(): void;
  kill(): Promise<void>;
}
interface FleetControllerFacts {
  /** A connection of its own, which it closes. */
  readonly bus: EventBus;
  /** Signs command tokens. */
  readonly edgeKey: KeyObject;
  readonly server: FleetServer;
  readonly hosts: readonly EdgeHost[];
  readonly groups?: readonly EdgeGroup[];
  readonly launches?: FairPool;
  /** Room for the views of runs; that of another run may fill it. */
  readonly rooms?: HeapRoom;
  /** Turns of what is read for runs. */
  readonly heapBudget?: HeapBudget;
  readonly onTheWay?: FairPool;
  /** Those of another process: its runs and those of this one count together. */
  readonly views?: OpenViews | undefined;
  /** Faults on the way to the hosts, and in what is said in their place. */
  readonly wrapSender?: (sender: CommandSender) => CommandSender;
  readonly wrapNews?: (news: NewsWriter) => NewsWriter;
  /** The run as the cache has it. */
  readonly seen?: () => FleetRun | undefined;
  readonly clock?: Clock;
  /** The tenant of the namespace; undefined while it is that of none. */
  readonly tenantOf?: () => string | undefined;
  /** The same on the API server. Default: as the cache has it. */
  readonly readTenant?: () => Promise<string | undefined>;
  /** Called for each look at one host of the cache. */
  readonly onHostRead?: () => void;
}

const same = <T>(value: T): T => value;
const either = <T>(given: T | undefined, own: T): T => given ?? own;

/** As the cache of the controllers keeps it. */
const slimmed = (run: FleetRun | undefined): FleetRun | undefined => run && slimFleetRun(run);

/** As the module makes them. */
export const poolOf = (size: number): FairPool =>
  createFairPool({ size, clock: systemClock, perFree: 1, waitMs: 86_400_000 });

/** A process of the controllers with this one module, on its own connection. */
export function startFleetController(given: FleetControllerFacts): FleetProcess {
  const { bus, edgeKey, server, hosts, groups = [], wrapSender = same, wrapNews = same } = given;
  const { clock = systemClock, tenantOf = () => 'acme', seen = () => (server.isGone ? undefined : server.run) } = given;
  const { onHostRead = () => undefined, readTenant = async () => tenantOf() } = given;
  if (server.groups.length === 0) server.groups.push(...groups);
  const stop = new AbortController();
  const facts: Fact[] = [];
  const events: string[] = [];
  const cache = createCache<EdgeHost, 'namespace'>({ indexes: { namespace: () => ['tenant-acme'] } });
  cache.replaceAll(hosts.map(slimEdgeHost), '1');
  const groupCache = createCache<EdgeGroup, 'namespace'>({ indexes: { namespace: () => ['tenant-acme'] } });
  groupCache.replaceAll(groups.map(slimEdgeGroup), '1');
  const guard = () => {
    if (stop.signal.aborted) throw new AppError('lost_leadership', 'dead');
  };
  const kube = server.kube as unknown as Parameters<typeof createFleetRunReconcile>[0]['kube'];
  const drive = {
    clock,
    sender: wrapSender(createCommandSender({ bus, clock, edgeKey, guard })),
    news: wrapNews(createEdgeResults({ bus, clock })),
    recent: createRecentCommands({ bus }),
    launches: given.launches ?? poolOf(64),
    cancels: poolOf(64),
  };
  const store = createConfigMapStore(server.kube as unknown as Parameters<typeof createConfigMapStore>[0]);
  const heapBudget = given.heapBudget ?? createHeapBudget(clock);
  const onTheWay = given.onTheWay ?? createArgumentPool(clock);
  const rooms = given.rooms ?? new HeapRoom(clock);
  const ownViews = new OpenViews({
    clock,
    store,
    newsReader: createNewsReader({ bus, clock, turns: createTurnGate() }),
    outputs: createFairPool({ size: 16 * 1_048_576, clock }),
    heapBudget,
    keepArgs: createKeepArgs({ kube, heapBudget, onTheWay }),
    rooms,
    serveRecords: serveOpenRecords(bus),
    wake: (key) => controller.queue.add(key),
  });
  const views = either(given.views, ownViews);
  const reconcile = createFleetRunReconcile({
    ...drive,
    kube,
    events: { record: ({ reason }) => void events.push(reason), flush: async () => undefined },
    logger: silentLogger,
    leaving: new Map(),
    facts: { raise: (fact) => void facts.push(fact) },
    tenants: { tenantOf },
    readTenant,
    readHost: async ({ name }) => {
      server.asked.push('edgehost');
      return (server.listed ?? hosts).find((host) => edgeHostName(nodeIdOfHost(host)) === name);
    },
    listHosts: server.listed === undefined ? async () => hosts.map(fleetHostOf) : createHostLists(kube),
    runs: { get: () => (guard(), slimmed(seen())), remember: () => undefined },
    hosts: {
      byIndex: (index, value) => cache.byIndex(index, value),
      getByUid: (uid) => (onHostRead(), cache.getByUid(uid)),
    },
    groups: {
      cache: groupCache,
      use: async ({ metadata }, task) => task(groups.find((group) => group.metadata.uid === metadata.uid)),
    },
    store,
    heapBudget,
    fleetCapable: createFleetCapable({ bus }),
    views,
  });
  const deps = { clock, logger: silentLogger, newId };
  const controller = createController(deps, { kind: 'FleetRun', reconcile, workers: 1 });
  const running = controller.run(stop.signal);
  controller.queue.add('tenant-acme/run');
  return {
    facts,
    views,
    events,
    see: (now) => cache.replaceAll(now.map(slimEdgeHost), '2'),
    wake: () => controller.queue.add('tenant-acme/run'),
    look: () => reconcile('tenant-acme/run'),
    gone: () => void abandon({ ...drive, views, kube }, server.run.metadata.uid ?? ''),
    async kill() {
      stop.abort();
      await views.closeAll();
      await running;
      await bus.close(0);
    },
  };
}

/** The record as the API reads it. */
export function recordsOf({ kube }: FleetServer, bus: Pick<EventBus, 'request'>): RunRecords {
  const outputs = createOutputReader(kube as unknown as Parameters<typeof createOutputReader>[0], {}, systemClock);
  return createRunRecords({ clock: systemClock, outputs, bus });
}

const noBus = {
  request: () => Promise.reject(new AppError('unavailable', 'a run that has ended needs no bus')),
};

/** How each host of the run ended, as the API reads it; none where the record is lost. */
export const perNodeOf = async (server: FleetServer): Promise<readonly NodeRecord[]> =>
  (await recordsOf(server, noBus).perNode(server.run)) ?? [];
