import { setImmediate } from 'node:timers/promises';
import { Agent, fetch as fetchOver, type RequestInit as OverInit } from 'undici';
import { AppError } from '../errors.ts';
import { type AnswerRoom, memoryOf, type Taken } from '../tools/web/answer-room.ts';
import { createAddressPolicy } from '../tools/web/address-policy.ts';
import { assertHostPermitted, createVettedLookup, type Resolve } from '../tools/web/vetted-agent.ts';
import { answerBoundsFor, answerFormOf, type LookAt } from './answer-bounds.ts';
import { mcpLimits } from './limits.ts';

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
  readonly resolve: Resolve;
  /** Internal networks in which the server may be, in CIDR form. */
  readonly allowedNetworks: readonly string[];
  /** Memory for large answers, of which each tenant has a share. */
  readonly room: AnswerRoom;
  /** Longest time of one exchange, its stream included. */
  readonly timeoutMs: number;
}

/**
 * Vets the address of every connection that is made, follows no redirect, and ends an answer that is too long, too large
 * when it is unpacked, or of too many values. It opens no stream for messages without a question: one would stay open for ever.
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
      const signal = AbortSignal.any([AbortSignal.timeout(options.timeoutMs), ...(init.signal ? [init.signal] : [])]);
      const own = { ...init, redirect: 'manual', signal, dispatcher };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same interface of the platform, typed twice
      const response = (await fetchOver(target, own as unknown as OverInit)) as unknown as Response;
      return bounded(response, options.room.of({ tenant, signal, cost: memoryOf(mcpLimits.responseBytes) }));
    };
  return { fetchFor, close: () => dispatcher.destroy() };
}

function bounded(response: Response, room: Taken): Response {
  const { status, body } = response;
  if (status >= 300 && status < 400) {
    void body?.cancel();
    throw new AppError('unavailable', 'the server answers with a redirect, which is not followed');
  }
  if (body === null) return response;
  const headers = new Headers(response.headers);
  const form = answerFormOf(status, headers.get('content-type'));
  headers.delete('content-type');
  if (form.contentType !== undefined) headers.set('content-type', form.contentType);
  const looked = within(body, room, answerBoundsFor(form));
  return new Response(ReadableStream.from(form.isStream ? inTurns(looked) : looked), { status, headers });
}

async function* within(body: ReadableStream<Uint8Array>, room: Taken, lookAt: LookAt) {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.byteLength;
      if (bytes > mcpLimits.responseBytes) throw tooLarge();
      lookAt(chunk);
      if (bytes > mcpLimits.smallBytes) await room.grow();
      yield chunk;
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

/** The library parses the whole in the turn in which it has the end. */
async function leave(room: Taken): Promise<void> {
  await setImmediate();
  room[Symbol.dispose]();
}

const tooLarge = (): AppError =>
  new AppError('limit_exceeded', `the server answers with more than ${mcpLimits.responseBytes} bytes`, {
    reason: 'TooLarge',
  });
