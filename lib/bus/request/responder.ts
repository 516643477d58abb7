import type { Msg } from '@nats-io/transport-node';
import { aborted } from '../../aborted.ts';
import type { Clock } from '../../clock.ts';
import { startDeadline } from '../../deadline.ts';
import { AppError, messageOf } from '../../errors.ts';
import { halfJitter } from '../../informer/backoff.ts';
import type { Logger } from '../../logger.ts';
import type { BusObserver } from '../bus-observer.ts';
import { busLimits } from '../limits.ts';
import type { Session } from '../session.ts';
import type { SessionKeeper } from '../session-keeper.ts';
import type { Address, HandleRequest, Responder, ServeOptions } from './requester.ts';
import type { SessionRequests } from './session-requests.ts';
import { errorText, headerNames, keyOf, requestSubject, timeoutOf, tooLarge } from './wire.ts';

export interface ResponderDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: Pick<BusObserver, 'answered'>;
  /** Between 0 and 1. */
  readonly random: () => number;
  readonly keeper: Pick<SessionKeeper, 'next'>;
}

/** Serves an address over one connection after the other. */
export function startResponder(
  deps: ResponderDeps,
  address: Address,
  handle: HandleRequest,
  options: ServeOptions,
): Responder {
  return new NatsResponder(deps, { address, subject: requestSubject(address), handle, options });
}

interface Service {
  readonly address: Address;
  readonly subject: string;
  readonly handle: HandleRequest;
  readonly options: ServeOptions;
}

/** Replicas of one group share requests. */
const queue = 'windlass';
const retry = { baseMs: busLimits.laneRetryBaseMs, maxMs: busLimits.laneRetryMaxMs };

class NatsResponder implements Responder {
  readonly ready: Promise<void>;
  readonly #deps: ResponderDeps;
  readonly #service: Service;
  readonly #stop = new AbortController();
  readonly #abandon = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #serving: Promise<void>;

  constructor(deps: ResponderDeps, service: Service) {
    this.#deps = deps;
    this.#service = service;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ready = promise;
    this.#serving = this.#serve(resolve);
  }

  async close(graceMs: number): Promise<void> {
    this.#stop.abort();
    await this.#serving;
    const patience = new AbortController();
    const answered = Promise.all(this.#running);
    await Promise.race([answered, this.#deps.clock.sleep(graceMs, patience.signal)]);
    patience.abort();
    this.#abandon.abort();
    await answered;
  }

  async #serve(onReady: () => void): Promise<void> {
    const { keeper, clock, logger, random } = this.#deps;
    const { signal } = this.#stop;
    for (let failures = 0; !signal.aborted; failures += 1) {
      const session = await keeper.next(signal);
      if (session === undefined) break;
      try {
        await this.#serveOver(session, onReady);
        failures = 0;
      } catch (error) {
        logger.warn({ service: this.#service.address.service, problem: messageOf(error) }, 'service interrupted');
      }
      if (!signal.aborted) await clock.sleep(halfJitter(retry, failures, random()), signal);
    }
    onReady();
  }

  async #serveOver(session: Session, onReady: () => void): Promise<void> {
    const { subject, options } = this.#service;
    const group = options.replicas === 'every' ? undefined : queue;
    const served = await session.requests.serve(subject, group, (message) => this.#take(message, session.requests));
    onReady();
    await eitherAborts(session.over, this.#stop.signal);
    await served.stop();
  }

  #take(message: Msg, { toHeaders }: SessionRequests): void {
    const { observer, clock } = this.#deps;
    const { service } = this.#service.address;
    const began = clock.now();
    const fail = (error: unknown): void => {
      respond(message, errorText(error), toHeaders({ [headerNames.error]: '1' }));
    };
    if (this.#running.size >= (this.#service.options.atOnce ?? busLimits.requestsAtOnce)) {
      fail(
        new AppError('unavailable', `${service} answers too many requests already; try again`, {
          reason: 'Overloaded',
        }),
      );
      return observer.answered(service, 'overloaded', 0);
    }
    const work = this.#answer(message)
      .then(
        (body) => {
          respond(message, body);
          observer.answered(service, 'ok', clock.now() - began);
        },
        (error: unknown) => {
          if (!(error instanceof AppError)) this.#deps.logger.error({ service, err: error }, 'request failed');
          fail(error);
          observer.answered(service, 'failed', clock.now() - began);
        },
      )
      .finally(() => this.#running.delete(work));
    this.#running.add(work);
  }

  async #answer(message: Msg): Promise<string | Uint8Array> {
    const { address, handle } = this.#service;
    if (message.data.byteLength > busLimits.requestBytes) throw tooLarge('the request', message.data.byteLength);
    using deadline = startDeadline(this.#deps.clock, timeoutOf(message.headers), this.#abandon.signal);
    const { signal } = deadline;
    const late = aborted(signal).then((): never => {
      throw new AppError('timeout', 'the time for the answer is over', { reason: 'RequestTimeout' });
    });
    const key = keyOf(address, message.subject);
    const body = await Promise.race([handle({ key, body: message.data, signal }), late]);
    const bytes = Buffer.byteLength(body);
    if (bytes > busLimits.requestBytes) throw tooLarge('the answer', bytes);
    return body;
  }
}

/** Leaves nothing at the session, which outlives many an address. */
function eitherAborts(first: AbortSignal, second: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      first.removeEventListener('abort', done);
      second.removeEventListener('abort', done);
      resolve();
    };
    if (first.aborted || second.aborted) return done();
    first.addEventListener('abort', done);
    second.addEventListener('abort', done);
  });
}

/** Nothing is said to a caller that asked for no answer, nor over a connection that has ended. */
function respond(message: Msg, body: string | Uint8Array, headers?: ReturnType<SessionRequests['toHeaders']>): void {
  try {
    message.respond(body, headers === undefined ? {} : { headers });
  } catch {
    // The caller's time ends without an answer, as with every lost one.
  }
}
