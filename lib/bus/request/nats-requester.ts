import { AppError } from '../../errors.ts';
import { busError, isNo } from '../bus-error.ts';
import type { BusCalls } from '../calls.ts';
import { busLimits } from '../limits.ts';
import type { ConnectionKeeper } from '../connection-keeper.ts';
import type { Address, Requester, RequestOptions } from './requester.ts';
import { type ResponderDeps, startResponder } from './responder.ts';
import { errorOf, headerNames, requestSubject, tooLarge } from './wire.ts';

interface RequesterDeps extends ResponderDeps {
  readonly calls: BusCalls;
  readonly keeper: Pick<ConnectionKeeper, 'use' | 'next'>;
}

/** Requests over core NATS. */
export function createNatsRequester(deps: RequesterDeps): Requester {
  const { calls } = deps;
  return {
    async request(address, body, options) {
      const { subject, question } = prepare(address, body, options);
      const answer = await calls.call('request', async (connection) => {
        const asked = connection.requests.ask(subject, question).catch((error: unknown) => {
          throw requestError(error, address, options.timeoutMs);
        });
        return unlessAborted(asked, options.signal);
      });
      if (answer === undefined) throw noAnswer(address, options.timeoutMs);
      const failure = errorOf(answer);
      if (failure !== undefined) throw failure;
      return answer.data;
    },
    async requestAll(address, body, options) {
      const { subject, question } = prepare(address, body, options);
      const answers = await calls.call('request_all', async (connection) => {
        const asked = connection.requests
          .askAll(subject, { ...question, ...expectedOf(options) })
          .catch(noneIfUnserved);
        return unlessAborted(asked, options.signal);
      });
      return (answers ?? [])
        .filter((answer) => answer.headers?.code !== noResponders && errorOf(answer) === undefined)
        .map(({ data }) => data);
    },
    tell(address, body) {
      if (Buffer.byteLength(body) > busLimits.requestBytes) return;
      const subject = requestSubject(address);
      void calls.call('tell', async (connection) => connection.requests.tell(subject, body)).catch(() => undefined);
    },
    serve: (address, handle, options = {}) => startResponder(deps, address, handle, options),
  };
}

/** Status of the answer to a request whose subject no process serves. */
const noResponders = 503;

const expectedOf = ({ expected }: { readonly expected?: number }): { expected?: number } =>
  expected === undefined ? {} : { expected };

function prepare(address: Address, body: string | Uint8Array, { timeoutMs }: RequestOptions) {
  const bytes = Buffer.byteLength(body);
  if (bytes > busLimits.requestBytes) throw tooLarge('the request', bytes);
  if (!(timeoutMs > 0 && timeoutMs <= busLimits.requestMaxMs)) {
    throw new AppError('invalid', `a request waits between 1 and ${busLimits.requestMaxMs} ms for its answer`, {
      reason: 'TimeoutInvalid',
    });
  }
  const question = { body, headers: { [headerNames.timeout]: String(timeoutMs) }, timeoutMs };
  return { subject: requestSubject(address), question };
}

/** The library cannot take a request back: its answer is dropped when it comes. */
async function unlessAborted<T>(asked: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return asked;
  const over = new AbortController();
  try {
    return await Promise.race([asked, rejectAtAbort(signal, over.signal)]);
  } finally {
    asked.catch(() => undefined);
    over.abort();
  }
}

function rejectAtAbort(signal: AbortSignal, over: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const give = (): void => reject(new AppError('cancelled', 'the caller gave the request up', { reason: 'Aborted' }));
    if (signal.aborted) return give();
    signal.addEventListener('abort', give, { once: true, signal: over });
  });
}

function requestError(error: unknown, address: Address, timeoutMs: number): AppError {
  const name = error instanceof Error ? error.name : '';
  if (isNoResponders(error)) {
    return new AppError('unavailable', `no process serves ${nameOf(address)} now`, {
      reason: 'NoResponders',
      cause: error,
    });
  }
  if (name === 'TimeoutError') return noAnswer(address, timeoutMs, error);
  const known = busError(error);
  // The request may have left before the connection broke.
  return known.code === 'unavailable' && !isNo(error) ? lostAnswer(address, error) : known;
}

const noAnswer = (address: Address, timeoutMs: number, cause?: unknown): AppError =>
  new AppError('timeout', `${nameOf(address)} did not answer within ${timeoutMs} ms`, {
    reason: 'RequestTimeout',
    cause,
  });

const lostAnswer = (address: Address, cause: unknown): AppError =>
  new AppError('timeout', `the connection broke before ${nameOf(address)} answered`, {
    reason: 'RequestTimeout',
    cause,
  });

const nameOf = ({ service, key }: Address): string =>
  key === undefined ? service : `${service} ${JSON.stringify(key)}`;

const isNoResponders = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'NoResponders' || isNoResponders(error.cause));

function noneIfUnserved(error: unknown): [] {
  if (isNoResponders(error)) return [];
  throw busError(error);
}
