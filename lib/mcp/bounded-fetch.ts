import { setImmediate } from 'node:timers/promises';
import { Agent, fetch as fetchOver, type RequestInit as OverInit } from 'undici';
import type { Clock } from '../clock.ts';
import { startDeadline } from '../deadline.ts';
import { AppError } from '../errors.ts';
import { isJsonObject } from '../json-object.ts';
import { createAddressPolicy } from '../tools/web/address-policy.ts';
import { type AnswerRoom, memoryOf, type Taken } from '../tools/web/answer-room.ts';
import { assertHostPermitted, createVettedLookup, type Resolve } from '../tools/web/vetted-agent.ts';
import { answerBoundsFor, answerFormOf, type LookAt } from './answer-bounds.ts';
import { mcpLimits } from './limits.ts';
import { type AnswerSize, answerSize, brokenOff, currentQuestion, type QuestionInHttp } from './question.ts';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** HTTP to one server. */
export interface BoundedFetch {
  /**
   * For the transport of the library, in sessions of one tenant. Rejects with an AppError that holds nothing of what was
   * sent.
   */
  fetchFor(tenant: string): Fetch;
  /** Breaks every connection. */
  close(): Promise<void>;
}

interface BoundedFetchOptions {
  readonly clock: Clock;
  readonly resolve: Resolve;
  /** Internal networks in which the server may be, in CIDR form. */
  readonly allowedNetworks: readonly string[];
  /** Memory for large answers, of which each tenant has a share. */
  readonly room: AnswerRoom;
  /** Longest time of one exchange, its stream included. */
  readonly timeoutMs: number;
}

/**
 * Vets the address of every connection that is made, and follows no redirect. Ends an answer that is too long, too
 * large when it is unpacked, or of too many values. It opens no stream for messages without a question: one would stay
 * open for ever.
 */
export function createBoundedFetch(options: BoundedFetchOptions): BoundedFetch {
  const isPermitted = createAddressPolicy(options.allowedNetworks);
  const dispatcher = new Agent({
    connections: mcpLimits.calls,
    connect: {
      lookup: createVettedLookup({ isPermitted, resolve: options.resolve }),
      timeout: mcpLimits.connectMs,
    },
    keepAliveTimeout: 10_000,
    maxHeaderSize: mcpLimits.headerBytes,
  });
  const fetchFor =
    (tenant: string): Fetch =>
    async (url, init = {}) => {
      if (init.method === 'GET') return new Response(null, { status: 405 });
      const target = new URL(url);
      // A host that is an address is never looked up.
      assertHostPermitted(target.hostname, isPermitted);
      const question = currentQuestion();
      const answered = question?.begin();
      const callers = [init.signal, question?.over].filter((caller) => caller instanceof AbortSignal);
      const deadline = startDeadline(options.clock, options.timeoutMs, AbortSignal.any(callers));
      const { signal } = deadline;
      const own = { ...init, redirect: 'manual', signal, dispatcher };
      const takeRoom = (): Taken => options.room.of({ tenant, signal, cost: memoryOf(mcpLimits.responseBytes) });
      const end: End = (failure) => {
        deadline[Symbol.dispose]();
        answered?.(failure);
      };
      try {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same interface of the platform, typed twice
        const response = (await fetchOver(target, own as unknown as OverInit)) as unknown as Response;
        if (response.status === 202) assertNeedsNoAnswer(response, init.body);
        return bounded(response, { takeRoom, end, most: question?.bounds ?? answerSize });
      } catch (error) {
        // The library gives this to its caller.
        end();
        throw error;
      }
    };
  return { fetchFor, close: () => dispatcher.destroy() };
}

/** The library reads 202 as the receipt of a notification, and would wait for the answer of a request until its time is up. */
function assertNeedsNoAnswer({ body: answer }: Response, message: unknown): void {
  const sent: unknown = typeof message === 'string' ? JSON.parse(message) : undefined;
  if (!isJsonObject(sent) || sent['id'] === undefined || sent['method'] === undefined) return;
  void answer?.cancel();
  throw new AppError('unavailable', 'the server accepts the request with HTTP 202, and answers nothing', {
    reason: 'NetworkError',
  });
}

type End = ReturnType<QuestionInHttp['begin']>;

interface Reading {
  readonly takeRoom: () => Taken;
  readonly most: AnswerSize;
  readonly end: End;
}

function bounded(response: Response, reading: Reading): Response {
  const { status, body } = response;
  if (status >= 300 && status < 400) {
    void body?.cancel();
    throw new AppError('unavailable', 'the server answers with a redirect, which is not followed');
  }
  const { most, end } = reading;
  if (body === null) {
    end();
    return response;
  }
  const headers = new Headers(response.headers);
  const form = answerFormOf(status, headers.get('content-type'));
  headers.delete('content-type');
  if (form.contentType !== undefined) headers.set('content-type', form.contentType);
  const looked = within(body, reading, answerBoundsFor(form, most.values));
  const read = form.isStream ? inTurns(looked) : looked;
  return new Response(ReadableStream.from(untilEnd(read, form.isStream, end)), { status, headers });
}

async function* within(body: ReadableStream<Uint8Array>, { takeRoom, most }: Reading, lookAt: LookAt) {
  let room = takeRoom();
  let [bytes, held] = [0, 0];
  try {
    for await (const chunk of body) {
      bytes += chunk.byteLength;
      if (bytes > most.bytes) throw tooLarge(most.bytes);
      const left = lookAt(chunk);
      const isLarge = held + chunk.byteLength > mcpLimits.smallBytes;
      if (isLarge) await room.grow();
      yield chunk;
      held = left;
      // The large message of a stream has been read, and a next one may be long in coming.
      if (!isLarge || held > mcpLimits.smallBytes) continue;
      void leave(room);
      room = takeRoom();
    }
  } finally {
    void leave(room);
  }
}

/** The library reads all messages that it has in one turn. */
async function* inTurns(chunks: AsyncIterable<Uint8Array>) {
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.byteLength; start += mcpLimits.turnBytes) {
      yield chunk.subarray(start, start + mcpLimits.turnBytes);
      await setImmediate();
    }
  }
}

/** Says when a body has ended. The library says nothing of a stream that ends or fails, and of other bodies all. */
async function* untilEnd(chunks: AsyncIterable<Uint8Array>, isStream: boolean, end: End) {
  let failure: unknown;
  try {
    for await (const chunk of chunks) yield chunk;
    if (isStream) failure = brokenOff();
  } catch (error) {
    if (isStream) failure = error;
    throw error;
  } finally {
    end(failure);
  }
}

/** The library parses the whole in the turn in which it has the end. */
async function leave(room: Taken): Promise<void> {
  await setImmediate();
  room[Symbol.dispose]();
}

const tooLarge = (most: number): AppError =>
  new AppError('limit_exceeded', `the server answers with more than ${most} bytes`, {
    reason: 'TooLarge',
  });
