import type { Dispatcher } from 'undici';
import { AppError, hasReason } from '../errors.ts';
import { createFairPool, type FairPool } from '../fair-pool.ts';
import { acceptedCodings, unpackedBody } from '../tools/web/read-response.ts';
import { assertHostPermitted } from '../tools/web/vetted-agent.ts';
import { upstreamLimits } from './limits.ts';
import { type PoolKey, UpstreamPools } from './pools.ts';
import type { Upstream, UpstreamAnswer, UpstreamDeps, UpstreamRequest } from './upstream.ts';
import { noRoomFor, UpstreamError, upstreamErrorOf } from './upstream-error.ts';

/**
 * HTTP over keep-alive pools, one for each tenant and origin. Addresses are vetted for each connection that is made, so
 * that no second answer of a name server leads elsewhere. Nothing is followed, tried again or remembered.
 */
export function createUpstream(deps: UpstreamDeps): Upstream {
  return new PooledUpstream(deps);
}

class PooledUpstream implements Upstream {
  readonly #pools: UpstreamPools;
  readonly #turns: FairPool;
  readonly #closed = new AbortController();

  #requests = 0;

  constructor({ clock, resolve }: UpstreamDeps) {
    this.#pools = new UpstreamPools({ clock, resolve });
    const { requests: size, waiting, waitMs } = upstreamLimits;
    this.#turns = createFairPool({ size, waiting, waitMs, clock });
    void this.#sweep(clock);
  }

  async send(request: UpstreamRequest): Promise<UpstreamAnswer> {
    const { tenant, signal } = request;
    const { origin, host, hostname, base } = addressOf(request.server);
    const wanted = { tenant, origin, allowedNetworks: request.allowedNetworks };
    try {
      using _connection = await this.#connectionOf(wanted, signal);
      using _place = await this.#turns.enter({ tenant, signal });
      // The pool may have given way meanwhile.
      const pool = this.#pools.get(wanted);
      // A host that is an address is never looked up.
      assertHostPermitted(hostname, pool.isPermitted);
      return await exchange(pool.dispatcher, request, { host, path: escaped(base + request.path) });
    } catch (error) {
      throw upstreamErrorOf(error, host, signal);
    }
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#pools.close();
  }

  /** An API that calls the gateway back may hold all of them, while each of those calls waits for one (ADR 0172). */
  async #connectionOf(wanted: PoolKey, signal: AbortSignal): Promise<Disposable> {
    this.#requests += 1;
    try {
      return await this.#pools.get(wanted).turns.enter({ tenant: `${this.#requests}`, signal });
    } catch (cause) {
      if (!hasReason(cause, 'Overloaded')) throw cause;
      const { connections, connectionWaitMs } = upstreamLimits;
      const message =
        `all ${connections} connections of the tenant are in use, and none was free within ` +
        `${connectionWaitMs / 1_000} s; the API may wait for the gateway itself`;
      throw new AppError('unavailable', message, { reason: 'Overloaded', cause });
    }
  }

  async #sweep(clock: UpstreamDeps['clock']): Promise<void> {
    while (!this.#closed.signal.aborted) {
      await clock.sleep(upstreamLimits.poolIdleMs, this.#closed.signal);
      this.#pools.sweep();
    }
  }
}

interface Target {
  readonly host: string;
  readonly path: string;
}

async function exchange(dispatcher: Dispatcher, request: UpstreamRequest, target: Target): Promise<UpstreamAnswer> {
  const { method, headers, body, signal, responseBytes, grow } = request;
  const response = await dispatcher.request({
    method: method as Dispatcher.HttpMethod,
    path: target.path,
    headers: {
      'user-agent': 'windlass-gateway',
      accept: 'application/json',
      ...headers,
      'accept-encoding': acceptedCodings,
    },
    body,
    signal,
    // A body is framed by its length with every method; without this each GET that has one costs a connection.
    ...(method === 'HEAD' ? {} : { reset: false }),
  });
  // A body that is left unread ends with an error, which would otherwise end the process.
  response.body.on('error', () => undefined);
  const { statusCode: status } = response;
  // Headers of an answer to HEAD are about a body that does not come.
  const coding = method === 'HEAD' ? '' : codingOf(response);
  try {
    return {
      status,
      body: await unpackedBody(response.body, coding, {
        most: responseBytes,
        ...lengthOf(response, coding),
        ...(grow && { grow }),
      }),
    };
  } catch (error) {
    if (hasReason(error, 'Overloaded')) throw noRoomFor(target.host, status);
    throw upstreamErrorOf(error, target.host, signal, status);
  }
}

function lengthOf({ headers }: Dispatcher.ResponseData, coding: string): { readonly length?: number } {
  const length = Number(headers['content-length'] ?? Number.NaN);
  return coding === '' && Number.isSafeInteger(length) ? { length } : {};
}

function codingOf({ headers }: Dispatcher.ResponseData): string {
  const value = headers['content-encoding'];
  return (Array.isArray(value) ? value.join(', ') : value) ?? '';
}

interface Address {
  readonly origin: string;
  readonly host: string;
  readonly hostname: string;
  /** Path of the base URL, as it is written. */
  readonly base: string;
}

function addressOf(server: string): Address {
  const url = URL.parse(server);
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (url === null || !isWeb || url.username !== '' || url.password !== '') {
    throw new UpstreamError('invalid', 'the server of the API spec is no http or https URL', 'InvalidServer');
  }
  const { origin, host, hostname } = url;
  const base = /^[a-z]+:\/\/[^/?#]*([^?#]*)/i.exec(server)?.[1] ?? '';
  return { origin, host, hostname, base: base.replace(/\/$/, '') };
}

/** HTTP takes visible ASCII only; everything else of a path is left as it is (spec 3 §2.4: joined literally). */
const escaped = (path: string): string =>
  path.replaceAll(/[^\x21-\x7e]+/g, (part) => encodeURIComponent(part.toWellFormed()));
