import { LRUCache } from 'lru-cache';
import { builtInPrefixes } from '../../../crds/tool-name.ts';
import type { EventBus } from '../../../lib/bus/index.ts';
import { AppError, hasReason } from '../../../lib/errors.ts';
import { heapBytes } from '../../../lib/heap-bytes.ts';
import type { Logger } from '../../../lib/logger.ts';
import { bytesOf } from '../../../lib/memory-budget/index.ts';
import { nameProblem } from '../../../lib/tools/name-policy.ts';
import {
  type RegisteredTool,
  type RegisteredToolsQuery,
  readRegisteredTools,
  registeredListBytes,
  registeredToolsService,
} from '../../../lib/tools/registered.ts';
import type { Tool, ToolAnswer, ToolArguments, ToolCaller } from '../../../lib/tools/tool.ts';

/** The party that the gateway sees behind the calls of one session. */
export interface ToolSigner {
  /** Id of the session. */
  readonly session: string;
  /** Name for the audit. */
  readonly name: string;
  /** Name of a SecurityContext of the tenant. */
  readonly context: string;
  /** Globs of the tools that it may call at most. */
  readonly tools: readonly string[];
}

/** A caller of the tools of the gateway: an agent, or a state of a workflow. */
export type RegisteredCaller = ToolCaller & { readonly signer: ToolSigner };

/** An agent that calls tools. */
export type AgentCaller = RegisteredCaller & {
  readonly agent: NonNullable<ToolCaller['agent']>;
  readonly executionId: string;
};

/** Whether it is an agent; another caller comes over the gateway, which lists registered tools itself. */
export const isAgent = (caller: ToolCaller): caller is AgentCaller =>
  caller.agent !== undefined && caller.executionId !== undefined && 'signer' in caller;

/** Tools that tenants have registered at the gateway, as tools of agents and workflows (ADR 0084). */
export interface RegisteredToolSource {
  /**
   * Tools that the caller names, as in the manifest of an agent, and its SecurityContext permits. Without a gateway there are none.
   * @throws AppError `unavailable` with the reason `GatewayUnavailable`.
   */
  offered(caller: RegisteredCaller, signal: AbortSignal): Promise<readonly Tool[]>;
}

/** Calls one tool of the gateway. It keeps the arguments as a text alone once it has returned its promise. */
export type CallRegistered = (
  caller: RegisteredCaller,
  call: { readonly tool: string; readonly args: ToolArguments },
  signal: AbortSignal,
) => Promise<ToolAnswer>;

interface RegisteredDeps {
  readonly bus: Pick<EventBus, 'request'>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly call: CallRegistered;
}

export const noRegisteredTools: RegisteredToolSource = { offered: async () => [] };

/** By the heap that they take: a schema may take twenty times its JSON. */
const kept = { bytes: bytesOf('lists of registered tools'), listBytes: registeredListBytes, ms: 5_000 } as const;
const askMs = 5_000;

export function createRegisteredTools(deps: RegisteredDeps): RegisteredToolSource {
  const known = new LRUCache<string, readonly RegisteredTool[]>({
    maxSize: kept.bytes,
    maxEntrySize: kept.listBytes,
    sizeCalculation: (tools) => sizeOf(tools),
    ttl: kept.ms,
  });
  return {
    async offered(caller, signal) {
      const patterns = patternsOf(caller);
      // Most agents name built-in tools alone.
      if (patterns.length === 0) return [];
      const query = { tenant: caller.tenant, security_context: caller.signer.context, patterns };
      const key = JSON.stringify(query);
      const held = known.get(key);
      const found = held ?? (await ask(deps, query, signal));
      if (held === undefined) known.set(key, found);
      return found
        .filter(({ name }) => nameProblem(caller, name) === undefined)
        .map((tool) => toolOf(deps, tool, caller));
    },
  };
}

const patternsOf = ({ signer }: RegisteredCaller): string[] =>
  signer.tools.filter((name) => name !== 'cmd' && !builtInPrefixes.some((prefix) => name.startsWith(prefix)));

async function ask({ bus, logger }: RegisteredDeps, query: RegisteredToolsQuery, signal: AbortSignal) {
  try {
    const asked = JSON.stringify(query);
    const answer = await bus.request({ service: registeredToolsService }, asked, { timeoutMs: askMs, signal });
    const { tools: all, left_out: beyond } = readRegisteredTools(answer);
    const tools = fitting(all);
    const leftOut = beyond + all.length - tools.length;
    if (leftOut > 0) logger.warn({ tenant: query.tenant, leftOut }, 'agent is offered a part of the registered tools');
    return tools;
  } catch (cause) {
    signal.throwIfAborted();
    throw new AppError('unavailable', unavailableBy(cause), { reason: 'GatewayUnavailable', cause });
  }
}

function unavailableBy(cause: unknown): string {
  if (hasReason(cause, 'ToolsUnsettled') || hasReason(cause, 'ContextUnread'))
    return `the tool gateway cannot list the tools that this agent names: ${cause.message}`;
  if (hasReason(cause, 'RequestTimeout'))
    return `the tool gateway does not list the tools that this agent names within ${askMs / 1_000} s`;
  return 'the tool gateway, which has tools that this agent names, cannot be reached';
}

const sizeOf = (value: unknown): number => Math.max(1, heapBytes(value, 2 * kept.listBytes));

/** Bytes of heap of the tools that a conversation is offered, as long as its model takes. */
export const listBytes = (tools: readonly Tool[]): number =>
  tools.length === 0
    ? 0
    : sizeOf(tools.map(({ name, description, input_schema }) => ({ name, description, input_schema })));

/** Each conversation that asks holds its list for as long as its model takes. */
function fitting(all: readonly RegisteredTool[]): readonly RegisteredTool[] {
  let room: number = kept.listBytes - sizeOf([]);
  return all.filter((tool) => {
    const bytes = sizeOf([tool]);
    if (bytes > room) return false;
    room -= bytes;
    return true;
  });
}

const toolOf = (
  { call }: RegisteredDeps,
  { name, description, input_schema, skip_judge = false }: RegisteredTool,
  caller: RegisteredCaller,
): Tool => ({
  name,
  description,
  input_schema,
  skip_judge,
  // The effect on an upstream or a container is not known.
  idempotent: false,
  fleet_capable: false,
  run: { kind: 'api', run: (_caller, args, signal) => call(caller, { tool: name, args }, signal) },
});
