import type { Clock } from '../clock.ts';
import { startDeadline } from '../deadline.ts';
import { AppError, messageOf } from '../errors.ts';
import { createFairPool, type FairPool } from '../fair-pool.ts';
import type { Logger } from '../logger.ts';
import type { McpServerEntry } from '../node-config/index.ts';
import { failure } from '../tools/answers.ts';
import type { AnswerRoom } from '../tools/web/answer-room.ts';
import type { Resolve } from '../tools/web/vetted-agent.ts';
import { type BoundedFetch, createBoundedFetch } from './bounded-fetch.ts';
import { mcpLimits } from './limits.ts';
import { type McpAnswer, readMcpAnswer } from './read-answer.ts';
import { createToolReader, type McpTool } from './read-tools.ts';
import { McpRefusal, serverErrorOf } from './server-error.ts';
import { createMcpSessions, type McpSessions, noTenant } from './sessions.ts';

/** A tool of a server; its name begins with that of the server and a dot. */
export interface McpServerTool extends McpTool {
  /** Whether the judge of tool calls is skipped (requirements TOOL-RULE-04). */
  readonly skip_judge: boolean;
  /**
   * Calls it once. A failure of the server or of the way to it is an answer with `isError`.
   * @throws AppError `cancelled` where the signal aborts, `unavailable` where too many calls of the server wait.
   */
  call(tenant: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<McpAnswer>;
}

/** Tools of the servers of the node configuration, as they were listed last. */
export interface McpServers {
  /** Those that a tenant may see; without a tenant those of servers for all. */
  list(tenant: string | undefined): Iterable<McpServerTool>;
  find(tenant: string | undefined, name: string): McpServerTool | undefined;
  /** False for a name of a server that has given no list yet. */
  isListed(tenant: string | undefined, name: string): boolean;
  /** Lists the tools of every server, again and again until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

interface McpDeps {
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn' | 'info'>;
  readonly resolve: Resolve;
  /** Memory for large answers. */
  readonly room: AnswerRoom;
}

/** One server with what it needs. */
interface Server {
  readonly entry: McpServerEntry;
  readonly pool: FairPool;
  readonly http: BoundedFetch;
  tools: ReadonlyMap<string, McpServerTool>;
  isListed: boolean;
}

export function createMcpServers(deps: McpDeps, entries: readonly McpServerEntry[]): McpServers {
  const { clock } = deps;
  const servers = new Map<string, Server>(entries.map((entry) => [entry.name, serverOf(deps, entry)]));
  const sessions = createMcpSessions(clock, ({ name }) => httpOf(servers.get(name)));
  const visible = (tenant: string | undefined): Server[] =>
    [...servers.values()].filter(({ entry: { tenants } }) => isFor(tenants, tenant));
  const serverFor = (tenant: string | undefined, name: string): Server | undefined => {
    const server = servers.get(name.slice(0, name.indexOf('.')));
    return server !== undefined && isFor(server.entry.tenants, tenant) ? server : undefined;
  };
  return {
    list: (tenant) => visible(tenant).flatMap(({ tools }) => [...tools.values()]),
    find: (tenant, name) => serverFor(tenant, name)?.tools.get(name),
    isListed: (tenant, name) => serverFor(tenant, name)?.isListed !== false,
    async run(signal) {
      await Promise.all([...servers.values()].map((server) => follow({ ...deps, sessions }, server, signal)));
    },
    async close() {
      await sessions.close();
      await Promise.all([...servers.values()].map(({ http }) => http.close()));
    },
  };
}

function serverOf({ clock, resolve, room }: McpDeps, entry: McpServerEntry): Server {
  const { calls: size, waiting, waitMs } = mcpLimits;
  const http = createBoundedFetch({
    clock,
    resolve,
    room,
    allowedNetworks: entry.allow_internal_addresses,
    timeoutMs: callMs(entry) + mcpLimits.connectMs,
  });
  return { entry, http, pool: createFairPool({ size, waiting, waitMs, clock }), tools: new Map(), isListed: false };
}

function httpOf(server: Server | undefined): BoundedFetch {
  if (server === undefined) throw new AppError('internal', 'there is no such MCP server');
  return server.http;
}

const isFor = (tenants: readonly string[] | undefined, tenant: string | undefined): boolean =>
  tenants === undefined || (tenant !== undefined && tenants.includes(tenant));

const callMs = ({ timeout_secs: seconds }: McpServerEntry): number =>
  seconds === undefined ? mcpLimits.callMs : seconds * 1_000;

type FollowDeps = McpDeps & { readonly sessions: McpSessions };

async function follow(deps: FollowDeps, server: Server, signal: AbortSignal): Promise<void> {
  const { clock, logger, sessions } = deps;
  let last = '';
  const note = (line: string, log: () => void): void => {
    if (line !== last) log();
    last = line;
  };
  const about = { server: server.entry.name };
  while (!signal.aborted) {
    const problem = await refresh(deps, server, signal).then(
      (leftOut) => {
        const fields = { ...about, tools: server.tools.size, leftOut };
        note(JSON.stringify(fields), () => logger.info(fields, 'mcp server listed'));
      },
      (error: unknown) => {
        sessions.drop(server.entry, noTenant);
        const fields = { ...about, problem: messageOf(error) };
        if (!signal.aborted) note(fields.problem, () => logger.warn(fields, 'mcp server not listed'));
        return error;
      },
    );
    await clock.sleep(problem === undefined ? mcpLimits.listEveryMs : mcpLimits.listRetryMs, signal);
  }
}

/** Resolves to the number of tools that were left out. A server that is away keeps its tools, whose calls then fail. */
async function refresh(deps: FollowDeps, server: Server, outer: AbortSignal): Promise<number> {
  using deadline = startDeadline(deps.clock, mcpLimits.connectMs + mcpLimits.listMs, outer);
  const { signal } = deadline;
  try {
    const session = await deps.sessions.get(server.entry, noTenant, signal);
    const reader = createToolReader(server.entry.tools);
    await session.list(signal, reader.take);
    const { tools, leftOut } = reader.list;
    const own = tools.map((tool) => toolOf(deps, server, tool));
    server.tools = new Map(own.map((tool) => [tool.name, tool]));
    server.isListed = true;
    return leftOut;
  } catch (error) {
    throw serverErrorOf(error, signal);
  }
}

function toolOf(deps: FollowDeps, server: Server, tool: McpTool): McpServerTool {
  const { name, capabilities } = server.entry;
  const said = capabilities.find((capability) => capability.name === tool.name);
  return {
    ...tool,
    name: `${name}.${tool.name}`,
    skip_judge: said?.skip_judge ?? false,
    call: (tenant, args, signal) =>
      server.pool.run({ tenant, signal }, () => call(deps, server, { tenant, tool: tool.name, args, outer: signal })),
  };
}

interface Call {
  readonly tenant: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly outer: AbortSignal;
}

async function call(deps: FollowDeps, server: Server, asked: Call): Promise<McpAnswer> {
  const { clock, sessions } = deps;
  using deadline = startDeadline(clock, callMs(server.entry), asked.outer);
  const { signal } = deadline;
  try {
    return readMcpAnswer(await inSession(sessions, server.entry, { ...asked, signal }));
  } catch (error) {
    asked.outer.throwIfAborted();
    const known = serverErrorOf(error, signal);
    if (known instanceof McpRefusal) return failure('MCP_ERROR', `${server.entry.name}: ${known.message}`);
    sessions.drop(server.entry, asked.tenant);
    return failure(
      codeOf(known),
      `the MCP server ${server.entry.name} failed: ${messageOf(known)}; its outcome is unknown`,
    );
  }
}

const isTimeout = (error: Error): boolean => error instanceof AppError && error.code === 'timeout';
const codeOf = (error: Error): string => (isTimeout(error) ? 'TIMEOUT' : 'NETWORK_ERROR');

/** A server that has forgotten the session says so before anything runs: then, and only then, the call is made again. */
async function inSession(
  sessions: McpSessions,
  entry: McpServerEntry,
  { tenant, tool, args, signal }: Call & { readonly signal: AbortSignal },
): Promise<Readonly<Record<string, unknown>>> {
  const session = await sessions.get(entry, tenant, signal);
  try {
    return await session.call(tool, args, signal);
  } catch (error) {
    if (!isForgotten(error) || signal.aborted) throw error;
    sessions.drop(entry, tenant);
    const next = await sessions.get(entry, tenant, signal);
    return next.call(tool, args, signal);
  }
}

const isForgotten = (error: unknown): boolean => error instanceof Error && 'status' in error && error.status === 404;
