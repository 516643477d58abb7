import { LRUCache } from 'lru-cache';
import { type Clock, resultWithin } from '../../lib/clock.ts';
import { cutMiddle } from '../../lib/cut-text.ts';
import { messageOf } from '../../lib/errors.ts';
import { createFairPool, type FairPool, type PoolPart } from '../../lib/fair-pool.ts';
import type { NewId } from '../../lib/ids.ts';
import {
  apiVersionOf,
  type Event,
  events,
  type KubeClient,
  type KubeObject,
  type Resource,
} from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import { shortKey } from '../../lib/short-key.ts';
import { createTokenBuckets, type TokenBuckets } from '../../lib/token-buckets.ts';
import { microTime } from './lease-record.ts';

/** Something that happened to an object, for people who run `kubectl describe`. */
export interface RecordedEvent {
  readonly resource: Resource;
  readonly object: KubeObject;
  readonly type: 'Normal' | 'Warning';
  /** PascalCase, from crds/conditions.ts. */
  readonly reason: string;
  /** Our action, PascalCase. */
  readonly action: string;
  /** One sentence that names what and to which value. Cut at 1,024 characters. */
  readonly note: string;
}

interface EventRecorderDeps {
  readonly client: Pick<KubeClient, 'create'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: NewId;
  /** Called for each Event that was not written. */
  readonly onDropped?: () => void;
}

interface EventRecorderOptions {
  /** `windlass.dev/controllers` or the like. */
  readonly controller: string;
  /** The pod's name. */
  readonly instance: string;
}

/**
 * Writes Events beside the work, never in its way: `record` returns at once, never throws, and drops what is too much.
 * The same happening to the same object is written once in ten minutes. One object gets at most 25 Events, then one
 * each half minute, and one namespace 2,000, then five a second, however many objects it has. At most 1,250 wait to be sent, of which one namespace has four fifths. Each namespace has its own
 * sender, so that one whose Events hang in a webhook holds up no other.
 */
export interface EventRecorder {
  record(happening: RecordedEvent): void;
  /** Resolves when nothing waits to be sent any more, after 5 s at the latest. */
  flush(): Promise<void>;
}

const repeatAfterMs = 10 * 60_000;
/** Events at once, and the time behind which one more may come. */
const ofObject = { burst: 25, intervalMs: 30_000 };
/** Without a bound of its own, a tenant whose objects come and fail for ever would fill etcd with Events of new objects. */
const ofNamespace = { burst: 2_000, intervalMs: 200 };
const waitingMax = 1_250;
/** Namespaces whose Events are sent at once. */
const sendersMax = 4;
/** Objects and happenings remembered; the oldest are forgotten first. */
const rememberedMax = 4_096;
const sendTimeoutMs = 5_000;
const lengths = { note: 1_024, name: 63 } as const;

export function createEventRecorder(deps: EventRecorderDeps, options: EventRecorderOptions): EventRecorder {
  return new Recorder(deps, options);
}

/** Waiting Events of one namespace, each with its place, and their sender. */
interface Line {
  readonly waiting: { readonly event: Event; readonly place: PoolPart }[];
  readonly sent: Promise<void>;
}

class Recorder implements EventRecorder {
  readonly #deps: EventRecorderDeps;
  readonly #options: EventRecorderOptions;
  /** When each happening was written last, by the steady clock. */
  readonly #seen = new LRUCache<string, number>({ max: rememberedMax });
  readonly #objects: TokenBuckets;
  readonly #namespaces: TokenBuckets;
  /** Room for those that wait to be sent. */
  readonly #room: FairPool;
  readonly #requests: FairPool;
  /** Events that wait to be sent, by namespace, with their sender. */
  readonly #lines = new Map<string, Line>();

  constructor(deps: EventRecorderDeps, options: EventRecorderOptions) {
    this.#deps = deps;
    this.#options = options;
    const { clock } = deps;
    const buckets = { nowMs: () => clock.steadyMs(), keysMax: rememberedMax };
    this.#objects = createTokenBuckets({ ...ofObject, ...buckets });
    this.#namespaces = createTokenBuckets({ ...ofNamespace, ...buckets });
    this.#room = createFairPool({ size: waitingMax, clock });
    this.#requests = createFairPool({ size: sendersMax, clock });
  }

  record(happening: RecordedEvent): void {
    const { clock } = this.#deps;
    const at = clock.steadyMs();
    const { uid = '' } = happening.object.metadata;
    const sameness = shortKey([uid, happening.type, happening.reason, happening.note].join('\0'));
    if (at - (this.#seen.get(sameness) ?? Number.NEGATIVE_INFINITY) < repeatAfterMs) return;
    this.#seen.set(sameness, at);
    const event = this.#eventOf(happening, clock.now());
    const tenant = event.metadata.namespace ?? '';
    const place = this.#spend(uid, tenant) ? this.#room.tryEnter({ tenant }) : undefined;
    if (place === undefined) return this.#deps.onDropped?.();
    const known = this.#lines.get(tenant);
    if (known !== undefined) return void known.waiting.push({ event, place });
    const waiting = [{ event, place }];
    this.#lines.set(tenant, { waiting, sent: this.#send(tenant, waiting) });
  }

  async flush(): Promise<void> {
    const sent = Promise.all([...this.#lines.values()].map((line) => line.sent));
    await resultWithin(this.#deps.clock, sendTimeoutMs, sent);
  }

  /** An Event that one of both refuses takes nothing from the other. */
  #spend(uid: string, tenant: string): boolean {
    return this.#objects.isDue(uid) && this.#namespaces.take(tenant) && this.#objects.take(uid);
  }

  async #send(tenant: string, waiting: Line['waiting']): Promise<void> {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { event, place } = next;
      await this.#requests.run({ tenant }, () => this.#create(event)).catch((error) => this.#drop(event, error));
      place.leave();
    }
    this.#lines.delete(tenant);
  }

  async #create(event: Event): Promise<void> {
    await this.#deps.client.create(events, event, { timeoutMs: sendTimeoutMs });
  }

  #drop({ reason }: Event, error: unknown): void {
    this.#deps.onDropped?.();
    this.#deps.logger.debug({ reason, problem: messageOf(error) }, 'event not written');
  }

  #eventOf(happening: RecordedEvent, now: number): Event {
    const { resource, object, type, reason, action, note } = happening;
    const { namespace, name, uid, resourceVersion } = object.metadata;
    return {
      metadata: {
        namespace: namespace ?? 'default',
        name: `${(name ?? '').slice(0, lengths.name).replace(/[.-]+$/, '')}.${this.#deps.newId()}`,
      },
      eventTime: microTime(now),
      type,
      reason,
      action,
      note: cutMiddle(note, lengths.note),
      regarding: { apiVersion: apiVersionOf(resource), kind: resource.kind, namespace, name, uid, resourceVersion },
      reportingController: this.#options.controller,
      reportingInstance: this.#options.instance,
    };
  }
}
