import type { Msg } from '@nats-io/transport-node';
import { halfJitter } from '../../backoff.ts';
import { type Clock, resultWithin } from '../../clock.ts';
import { AppError, messageOf } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { onAbort } from '../../on-abort.ts';
import type { BusConnection } from '../bus-connection.ts';
import type { BusObserver } from '../bus-observer.ts';
import type { ConnectionKeeper } from '../connection-keeper.ts';
import { busLimits } from '../limits.ts';
import { Answering } from './answering.ts';
import type { ConnectionRequests } from './connection-requests.ts';
import type { Address, HandleRequest, Responder, ServeOptions } from './requester.ts';
import { addressKey, errorText, headerNames, requestSubject, timeoutOf, tooLarge } from './wire.ts';

export interface ResponderDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: Pick<BusObserver, 'answered'>;
  /** Between 0 and 1. */
  readonly random: () => number;
  readonly keeper: Pick<ConnectionKeeper, 'next'>;
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
const retry = { baseMs: busLimits.consumerRetryBaseMs, maxMs: busLimits.consumerRetryMaxMs };

class NatsResponder implements Responder {
  readonly ready: Promise<void>;
  readonly #deps: ResponderDeps;
  readonly #service: Service;
  readonly #stop = new AbortController();
  /** Requests that are not answered yet, and their answers. */
  readonly #running = new Map<Answering, Promise<void>>();
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
    const answered = Promise.all(this.#running.values());
    await resultWithin(this.#deps.clock, graceMs, answered);
    for (const request of this.#running.keys()) request.giveUp();
    await answered;
  }

  async #serve(onReady: () => void): Promise<void> {
    const { keeper, clock, logger, random } = this.#deps;
    const { signal } = this.#stop;
    for (let failures = 0; !signal.aborted; ) {
      const connection = await keeper.next(signal);
      if (connection === undefined) break;
      try {
        await this.#serveOver(connection, onReady);
        failures = 0;
      } catch (error) {
        logger.warn({ service: this.#service.address.service, problem: messageOf(error) }, 'service interrupted');
        await clock.sleep(halfJitter(retry, failures, random()), signal);
        failures += 1;
      }
      // The next connection is served at once: until then this process counts as gone.
      if (connection.over.aborted) await connection.ended;
    }
    onReady();
  }

  async #serveOver(connection: BusConnection, onReady: () => void): Promise<void> {
    const { subject, options } = this.#service;
    const group = options.replicas === 'every' ? undefined : queue;
    const serving = connection.requests.serve(subject, group, (message) => this.#take(message, connection.requests));
    const served = await unlessOver(connection.over, serving);
    if (served === undefined) return;
    onReady();
    await eitherAborts(connection.over, this.#stop.signal);
    await unlessOver(connection.over, served.stop());
  }

  #take(message: Msg, requests: ConnectionRequests): void {
    const { observer, clock } = this.#deps;
    const { service } = this.#service.address;
    const began = clock.now();
    const fail = (error: unknown): void => {
      requests.answer(message, errorText(error), { [headerNames.error]: ['1'] });
    };
    if (this.#running.size >= (this.#service.options.atOnce ?? busLimits.requestsAtOnce)) {
      fail(
        new AppError('unavailable', `${service} answers too many requests already; try again`, {
          reason: 'Overloaded',
        }),
      );
      return observer.answered(service, 'overloaded', 0);
    }
    const request = this.#begin(message);
    const work = this.#answer(request)
      .then(
        (body) => {
          requests.answer(message, body);
          observer.answered(service, 'ok', clock.now() - began);
        },
        (error: unknown) => {
          if (!(error instanceof AppError)) this.#deps.logger.error({ service, err: error }, 'request failed');
          fail(error);
          observer.answered(service, 'failed', clock.now() - began);
        },
      )
      .finally(() => this.#running.delete(request));
    this.#running.set(request, work);
  }

  #begin({ subject, headers, data }: Msg): Answering {
    const key = addressKey(this.#service.address, subject);
    return new Answering(this.#deps.clock, { key, body: data, timeoutMs: timeoutOf(headers) });
  }

  async #answer(request: Answering): Promise<string | Uint8Array> {
    using _ending = request;
    const { byteLength } = request.body;
    if (byteLength > busLimits.requestBytes) throw tooLarge('the request', byteLength);
    const body = await Promise.race([this.#service.handle(request), request.late]);
    const bytes = Buffer.byteLength(body);
    if (bytes > busLimits.requestBytes) throw tooLarge('the answer', bytes);
    return body;
  }
}

/** Undefined where the connection ends first: the library never settles an exchange whose connection is lost in it. */
async function unlessOver<T>(over: AbortSignal, exchange: Promise<T>): Promise<T | undefined> {
  const { promise: lost, resolve } = Promise.withResolvers<undefined>();
  const off = onAbort(over, () => resolve(undefined));
  try {
    return await Promise.race([exchange, lost]);
  } finally {
    off();
  }
}

/** Leaves nothing at the connection, which outlives many an address. */
async function eitherAborts(first: AbortSignal, second: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const offs = [first, second].map((signal) => onAbort(signal, resolve));
  await promise;
  for (const off of offs) off();
}
