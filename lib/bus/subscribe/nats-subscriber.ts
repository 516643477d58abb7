import { hash } from 'node:crypto';
import type { Consumer } from '@nats-io/jetstream';
import { resultWithin } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { createFairPool } from '../../fair-pool.ts';
import { busLimits } from '../limits.ts';
import { sourceFilter, sourceName } from '../publish/stream-subjects.ts';
import type { BusConnection } from '../bus-connection.ts';
import type { ConnectionKeeper } from '../connection-keeper.ts';
import { nanos } from '../streams.ts';
import { type ConsumerLoop, startConsumerLoop } from './consumer-loop.ts';
import { createMessageHandler, type HandleMessage, type HandlerDeps } from './message-handler.ts';
import type { HandleDelivery, Subscription, SubscriptionDefinition } from './subscription.ts';

interface SubscriberDeps extends Omit<HandlerDeps, 'pool' | 'stop' | 'abandon'> {
  readonly keeper: Pick<ConnectionKeeper, 'next' | 'replace'>;
}

/** A message waits for its turn as long as it takes: it is announced as under way, and a wait is no attempt. */
const patienceMs = 2 ** 31 - 1;

export function subscribeNats(
  deps: SubscriberDeps,
  definition: SubscriptionDefinition,
  handle: HandleDelivery,
): Subscription {
  return new DurableSubscription(deps, definition, handle);
}

interface OpenLoop extends ConsumerLoop {
  readonly stop: AbortController;
}

class DurableSubscription implements Subscription {
  readonly #deps: SubscriberDeps;
  readonly #definition: SubscriptionDefinition;
  readonly #handle: HandleMessage;
  readonly #stop = new AbortController();
  readonly #abandon = new AbortController();
  /** By tenant; the empty name is the consumer of all. */
  readonly #loops = new Map<string, OpenLoop>();
  readonly #ending = new Set<Promise<void>>();

  constructor(deps: SubscriberDeps, definition: SubscriptionDefinition, handle: HandleDelivery) {
    assertDefinition(definition);
    const pool = createFairPool({ size: definition.concurrency, clock: deps.clock, waitMs: patienceMs });
    const signals = { stop: this.#stop.signal, abandon: this.#abandon.signal };
    this.#deps = deps;
    this.#definition = definition;
    this.#handle = createMessageHandler({ ...deps, pool, ...signals }, definition, handle);
    if (definition.consumers !== 'tenants') this.#open('');
  }

  serve(tenants: readonly string[]): void {
    if (this.#definition.consumers !== 'tenants')
      throw new Error(`${this.#definition.name} has one consumer for all tenants`);
    if (this.#stop.signal.aborted) return;
    const wanted = new Set(tenants);
    for (const tenant of this.#loops.keys()) if (!wanted.has(tenant)) this.#end(tenant);
    for (const tenant of wanted) if (!this.#loops.has(tenant)) this.#open(tenant);
  }

  async close(graceMs: number): Promise<void> {
    this.#stop.abort();
    for (const tenant of this.#loops.keys()) this.#end(tenant);
    const ended = Promise.all(this.#ending);
    await resultWithin(this.#deps.clock, graceMs, ended);
    this.#abandon.abort();
    await ended;
  }

  #open(tenant: string): void {
    const { name: consumer, concurrency } = this.#definition;
    const stop = new AbortController();
    const open = (connection: BusConnection): Promise<Consumer> => this.#consumer(connection, tenant);
    const atOnce = Math.min(concurrency, busLimits.consumerWindow);
    const loop = startConsumerLoop({ ...this.#deps, open, handle: this.#handle, atOnce, consumer }, stop.signal);
    this.#loops.set(tenant, { ...loop, stop });
  }

  #end(tenant: string): void {
    const loop = this.#loops.get(tenant);
    if (loop === undefined) return;
    this.#loops.delete(tenant);
    loop.stop.abort();
    const ended = loop.ended.finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  async #consumer(connection: BusConnection, tenant: string): Promise<Consumer> {
    const { name, source, key, from = 'first', concurrency, consumers } = this.#definition;
    if (typeof source !== 'string') await connection.prepare(source);
    return connection.consumers.open(sourceName(source), {
      durable_name: consumers === 'tenants' ? `${name}_${tenantPart(tenant)}` : name,
      filter_subject: sourceFilter(source, consumers === 'tenants' ? tenant : undefined, key),
      ack_policy: 'explicit',
      ack_wait: nanos(busLimits.ackWaitMs),
      // One at a time, over all replicas: that which failed keeps the next one waiting, and so the order.
      max_ack_pending: concurrency === 1 ? 1 : Math.max(busLimits.consumerWindow, 4 * concurrency),
      deliver_policy: from === 'first' ? 'all' : 'new',
    });
  }
}

/** Part of the name of a consumer, which may hold few characters. */
const tenantPart = (tenant: string): string =>
  /^[A-Za-z0-9_-]{1,63}$/.test(tenant) ? tenant : `=${hash('sha256', tenant)}`;

function assertDefinition({ name, concurrency, attempts = 1 }: SubscriptionDefinition): void {
  const problem = !/^[a-z0-9-]{1,63}$/.test(name)
    ? `the name ${JSON.stringify(name)} is not made of lower-case letters, digits and dashes`
    : !(Number.isInteger(concurrency) && concurrency >= 1 && Number.isInteger(attempts) && attempts >= 1)
      ? `the concurrency and the attempts of ${name} are whole numbers from 1 on`
      : undefined;
  if (problem !== undefined) throw new AppError('invalid', problem, { reason: 'SubscriptionInvalid' });
}
