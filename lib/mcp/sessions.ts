import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { startDeadline } from '../deadline.ts';
import { AppError } from '../errors.ts';
import type { McpServerEntry } from '../node-config/index.ts';
import type { BoundedFetch } from './bounded-fetch.ts';
import { mcpLimits } from './limits.ts';
import { type McpEndpoint, type McpSession, openMcpSession } from './session.ts';

/** Sessions with servers, of which each tenant has its own: a server may keep something in one. */
export interface McpSessions {
  /** The session of a tenant, opened where there is none. */
  get(server: McpServerEntry, tenant: string, signal: AbortSignal): Promise<McpSession>;
  /** Takes no more calls in one that has failed. */
  drop(server: McpServerEntry, tenant: string): void;
  close(): Promise<void>;
}

export function createMcpSessions(clock: Clock, fetchOf: (server: McpServerEntry) => BoundedFetch): McpSessions {
  const ended = new AbortController();
  const open = new LRUCache<string, Promise<McpSession>>({
    max: mcpLimits.sessions,
    ttl: mcpLimits.sessionIdleMs,
    updateAgeOnGet: true,
    dispose: (session) => void session.then((found) => found.retire()).catch(() => undefined),
  });
  const keyOf = ({ name }: McpServerEntry, tenant: string): string => `${name}/${tenant}`;
  const begin = async (server: McpServerEntry, tenant: string): Promise<McpSession> => {
    // The first caller may leave: the others wait for the same session.
    using deadline = startDeadline(clock, mcpLimits.connectMs + mcpLimits.listMs, ended.signal);
    // Awaited here: the deadline ends with this function.
    return await openMcpSession(clock, endpointOf(server, tenant), fetchOf(server).fetchFor(tenant), deadline.signal);
  };
  return {
    async get(server, tenant, signal) {
      const key = keyOf(server, tenant);
      open.purgeStale();
      const held = open.get(key);
      if (held !== undefined) return unlessAborted(held, signal);
      const session = begin(server, tenant);
      open.set(key, session);
      session.catch(() => open.peek(key) === session && open.delete(key));
      return unlessAborted(session, signal);
    },
    drop: (server, tenant) => void open.delete(keyOf(server, tenant)),
    async close() {
      ended.abort();
      const closing = [...open.values()].map((session) => session.then((found) => found.close()));
      await Promise.allSettled(closing);
      open.clear();
    },
  };
}

/** The session that lists belongs to no tenant. */
export const noTenant = '';

/** A program over stdio has a pod for each tenant; the first one lists. @throws AppError where a tenant has none. */
function endpointOf(server: McpServerEntry, tenant: string): McpEndpoint {
  if (server.pods === undefined || tenant === noTenant) return server;
  const pod = server.pods.get(tenant);
  if (pod === undefined) throw new AppError('internal', `the MCP server ${server.name} has no pod for this tenant`);
  return pod;
}

/** @throws the reason of the signal, whichever comes first. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
