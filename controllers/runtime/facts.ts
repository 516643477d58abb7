import { LRUCache } from 'lru-cache';
import { type BusEvent, duplicateWindowMs, type EventSink } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';

/** Something that has happened to an object, for the event bus. */
export interface Fact extends Pick<BusEvent, 'topic' | 'type' | 'subject' | 'time' | 'data'> {
  /** Makes, with the subject, the event's id. */
  readonly word: string;
  /** The event's id where another process may raise the same event; absent: subject and word. */
  readonly id?: string;
  readonly namespace: string;
}

/**
 * Raises facts as events. A caller reports a state, not a change, so each reconcile may report it again. An event's id
 * derives from the fact, this process raises it once, and the bus stores it once. A fact that is older than the bus
 * remembers ids is not raised: after a restart every object is looked at again.
 */
export interface FactSink {
  raise(fact: Fact): void;
}

interface FactSinkDeps {
  readonly events: EventSink;
  readonly clock: Clock;
  /** Events of a namespace that belongs to no tenant are not raised. */
  readonly tenants: Pick<TenantDirectory, 'tenantOf'>;
}

/** Facts remembered as raised; the oldest are forgotten first, and raised once more to a bus that still knows them. */
const rememberedFacts = 4_096;

export function createFactSink(deps: FactSinkDeps): FactSink {
  const raised = new LRUCache<string, true>({ max: rememberedFacts });
  return {
    raise(fact) {
      const tenant = deps.tenants.tenantOf(fact.namespace);
      const id = fact.id ?? `${fact.subject}-${fact.word}`;
      const isOld = deps.clock.now() - Date.parse(fact.time) >= duplicateWindowMs;
      if (tenant === undefined || isOld || raised.has(id)) return;
      raised.set(id, true);
      deps.events.raise(eventOf(fact, id, tenant));
    },
  };
}

const eventOf = ({ topic, type, subject, time, data }: Fact, id: string, tenant: string): BusEvent => ({
  id,
  topic,
  source: 'controllers',
  type,
  subject,
  tenant,
  time,
  data,
});
