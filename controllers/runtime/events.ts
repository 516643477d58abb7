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
 * each half minute. At most 1,250 wait to be sent, of which one namespace has four fifths. Each namespace has its own
 * sender, so that one whose Events hang in a webhook holds up no other.
 */
export interface EventRecorder {
  record(happening: RecordedEvent): void;
  /** Resolves when nothing waits to be sent any more, after 5 s at the latest. */
  flush(): Promise<void>;
}

const repeatAfterMs = 10 * 60_000;
const burst = 25;
const refillMs = 30_000;
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

/** Events an object may still have, as of a time of the steady clock. */
interface Allowance {
  readonly left: number;
  readonly at: number;
}

class Recorder implements EventRecorder {
  readonly #deps: EventRecorderDeps;
  readonly #options: EventRecorderOptions;
  /** When each happening was written last, by the steady clock. */
  readonly #seen = new LRUCache<string, number>({ max: rememberedMax });
  readonly #allowances = new LRUCache<string, Allowance>({ max: rememberedMax });
  /** Room for those that wait to be sent. */
  readonly #room: FairPool;
  readonly #requests: FairPool;
  /** Events that wait to be sent, by namespace, with their sender. */
  readonly #lines = new Map<string, Line>();

  constructor(deps: EventRecorderDeps, options: EventRecorderOptions) {
    this.#deps = deps;
    this.#options = options;
    const { clock } = deps;
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
    const place = this.#spend(uid, at) ? this.#room.tryEnter({ tenant }) : undefined;
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

  #spend(uid: string, at: number): boolean {
    const { left, at: before } = this.#allowances.get(uid) ?? { left: burst, at };
    const refilled = Math.min(burst, left + (at - before) / refillMs);
    if (refilled < 1) return false;
    this.#allowances.set(uid, { left: refilled - 1, at });
    return true;
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
