import type { Consumer, ConsumerMessages } from '@nats-io/jetstream';
import { messageOf } from '../../errors.ts';
import { halfJitter } from '../../backoff.ts';
import { isStreamGone } from '../bus-error.ts';
import { busLimits } from '../limits.ts';
import type { BusConnection } from '../bus-connection.ts';
import type { ConnectionKeeper } from '../connection-keeper.ts';
import type { HandleMessage, HandlerDeps } from './message-handler.ts';

/** One durable consumer of a subscription: all of it, or the part of one tenant. */
export interface ConsumerLoop {
  /** Resolves when nothing of it is under way any more, after its signal aborted. */
  readonly ended: Promise<void>;
}

interface LoopDeps extends Pick<HandlerDeps, 'clock' | 'logger' | 'random'> {
  readonly keeper: Pick<ConnectionKeeper, 'next' | 'replace'>;
  readonly open: (connection: BusConnection) => Promise<Consumer>;
  readonly handle: HandleMessage;
  /** Messages that this process may hold of the consumer. */
  readonly atOnce: number;
  readonly consumer: string;
}

const retry = { baseMs: busLimits.consumerRetryBaseMs, maxMs: busLimits.consumerRetryMaxMs };

/** Takes messages, as many as can be handled, until the signal aborts. */
export function startConsumerLoop(deps: LoopDeps, stop: AbortSignal): ConsumerLoop {
  const running = new Set<Promise<void>>();
  let problem = '';

  function take(message: Parameters<HandleMessage>[0]): void {
    const work = deps.handle(message).finally(() => running.delete(work));
    running.add(work);
  }

  /** Until the connection or the consumer is gone, or the signal aborts. */
  async function drink(connection: BusConnection): Promise<void> {
    const consumer = await deps.open(connection);
    problem = '';
    while (!stop.aborted && !connection.over.aborted) {
      while (running.size >= deps.atOnce) await Promise.race(running);
      const messages = await consumer.fetch({ max_messages: deps.atOnce - running.size, expires: busLimits.pullMs });
      using _end = stopWith(stop, messages);
      // After a stop the rest is what came meanwhile; the handler returns it.
      for await (const message of messages) take(message);
    }
  }

  async function run(): Promise<void> {
    for (let failures = 0; ; failures += 1) {
      const connection = await deps.keeper.next(stop);
      if (connection === undefined) break;
      const began = deps.clock.now();
      await drink(connection).catch((error: unknown) => {
        if (isStreamGone(error)) deps.keeper.replace(connection);
        const { consumer, logger } = deps;
        if (messageOf(error) !== problem) logger.warn({ consumer, problem: messageOf(error) }, 'consumer interrupted');
        problem = messageOf(error);
      });
      if (deps.clock.now() - began > retry.maxMs) failures = 0;
      await deps.clock.sleep(halfJitter(retry, failures, deps.random()), stop);
    }
    await Promise.all(running);
  }

  return { ended: run() };
}

function stopWith(stop: AbortSignal, messages: ConsumerMessages): Disposable {
  const end = (): void => messages.stop();
  if (stop.aborted) end();
  stop.addEventListener('abort', end, { once: true });
  return { [Symbol.dispose]: () => stop.removeEventListener('abort', end) };
}
