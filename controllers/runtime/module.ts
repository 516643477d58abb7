import type { EventBus } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import type { NewId } from '../../lib/ids.ts';
import type { InformerChange, ReflectorDeps } from '../../lib/informer/index.ts';
import type { KubeClient, KubeObject } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import type { NodeConfig } from '../../lib/node-config/index.ts';
import type { OutputStore } from '../../lib/output-store/output-store.ts';
import type { ProcessRuntime } from '../../lib/process/process-runtime.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import type { SharedArchive } from './shared-archive.ts';
import type { ControllersConfig } from '../config.ts';
import type { Reconcile } from './controller.ts';
import type { EventRecorder } from './events.ts';
import type { FactSink } from './facts.ts';
import type { Metrics } from './metrics.ts';
import type { TurnGate } from './turn-gate.ts';

/** Follows the server: an informer of any kind, as the manager sees it. */
export interface Follower {
  run(signal: AbortSignal): Promise<void>;
  readonly synced: Promise<void>;
  readonly hasSynced: boolean;
  onChange(handler: (change: InformerChange<KubeObject>) => void): void;
}

export interface InformerDeps extends ReflectorDeps {
  /** Reads objects in full where the cache keeps less. */
  readonly kube: Pick<KubeClient, 'get'>;
}

/** An informer that modules ask for. Modules that name the same specification share one informer. */
export interface InformerSpec<F extends Follower = Follower> {
  /** Unique; the page `/readyz` shows it. */
  readonly name: string;
  /** Kind of the objects, for metrics. */
  readonly kind: string;
  open(deps: InformerDeps): F;
}

type InformerSpecs = Readonly<Record<string, InformerSpec>>;

/** The informers that a module has named, opened. */
export type Opened<S extends InformerSpecs> = { readonly [Name in keyof S]: ReturnType<S[Name]['open']> };

type ObjectOf<F> = F extends { readonly cache: { get(key: string): infer T | undefined } }
  ? Extract<T, KubeObject>
  : never;

/** The keys of the module's own kind that a change of one cache wakes. Pure: what a reconcile remembers wakes by `wake`. */
export type Wakes<S extends InformerSpecs> = {
  readonly [Name in keyof S]?: (
    change: InformerChange<ObjectOf<ReturnType<S[Name]['open']>>>,
    informers: Opened<S>,
  ) => Iterable<string>;
};

/** Shared by all modules: one of each in the process. */
export interface Services {
  readonly config: ControllersConfig;
  readonly nodeConfig: NodeConfig;
  /** Writes only while this replica leads. */
  readonly kube: KubeClient;
  /** Throws where this replica does not lead; call it before a write that bypasses `kube`. */
  readonly guard: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: NewId;
  readonly metrics: Pick<Metrics, 'registry' | 'ended'>;
  /** Events of Kubernetes. */
  readonly events: EventRecorder;
  readonly bus: EventBus;
  /** Events of the domain, for the bus. */
  readonly facts: FactSink;
  readonly store: OutputStore;
  /** Undefined where no archive is configured. */
  readonly archive: SharedArchive | undefined;
  readonly tenants: TenantDirectory;
  /** Slug of the tenant that a namespace is on the API server, before a verdict that there is none (ADR 0156). */
  readonly readTenant: (namespace: string) => Promise<string | undefined>;
  /** Gives long computations a turn of the event loop each. */
  readonly turns: TurnGate;
  readonly runtime: Pick<ProcessRuntime, 'stop' | 'abandon'>;
}

export interface ModuleContext<S extends InformerSpecs> extends Services {
  readonly informers: Opened<S>;
  /** Queues a key of the module's own kind; nothing for undefined. */
  readonly wake: (key: string | undefined) => void;
  /** Runs a task of the module's own from the time this replica leads until it stops. The task must not reject. */
  readonly whileLeading: (task: (stop: AbortSignal) => Promise<void>) => void;
}

/** A kind of object and everything that its controller is made of. */
interface KindModule<S extends InformerSpecs> {
  readonly kind: string;
  /** The caches that it reads. */
  readonly informers: S;
  readonly wakes: Wakes<S>;
  /** Reconciles at once of one namespace alone. Default: WINDLASS_WORKERS. */
  readonly workers?: (config: ControllersConfig) => number;
  /** Called once, before the caches fill, so that the reconcile can register listeners. */
  reconcile(context: ModuleContext<S>): Reconcile | Promise<Reconcile>;
}

/** Opens an informer, or gives the one that is open. */
export type OpenInformer = <F extends Follower>(spec: InformerSpec<F>) => F;

interface ModuleHost extends Services, Pick<ModuleContext<InformerSpecs>, 'wake' | 'whileLeading'> {
  readonly informer: OpenInformer;
}

/** A module as the manager sees it, whatever its informers are. */
export interface Module {
  readonly kind: string;
  readonly informers: readonly InformerSpec[];
  readonly workers: (config: ControllersConfig) => number;
  start(host: ModuleHost): Promise<Reconcile>;
}

type WakesOf<S extends InformerSpecs> = (change: InformerChange<KubeObject>, informers: Opened<S>) => Iterable<string>;

/** Types a module by the informers that it names, and hides them from the manager. */
export function defineModule<S extends InformerSpecs>(module: KindModule<S>): Module {
  return {
    kind: module.kind,
    informers: Object.values(module.informers),
    workers: module.workers ?? (({ WINDLASS_WORKERS: workers }) => workers),
    async start(host) {
      const entries = Object.entries(module.informers).map(([name, spec]) => [name, host.informer(spec)] as const);
      const informers = Object.fromEntries(entries) as Opened<S>;
      const reconcile = await module.reconcile({ ...host, informers });
      for (const [name, informer] of entries) {
        // Each informer tells its own wake-up of its own kind of object, which the types have lost on the way.
        const wakes = module.wakes[name] as WakesOf<S> | undefined;
        if (wakes === undefined) continue;
        informer.onChange((change) => {
          for (const key of wakes(change, informers)) host.wake(key);
        });
      }
      return reconcile;
    },
  };
}
