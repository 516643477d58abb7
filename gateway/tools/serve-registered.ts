import { aborted } from '../../lib/aborted.ts';
import { busLimits, type EventBus } from '../../lib/bus/index.ts';
import { AppError } from '../../lib/errors.ts';
import {
  readRegisteredToolQuery,
  type RegisteredToolFacts,
  type RegisteredToolQuery,
  registeredToolService,
} from '../../lib/tools/fleet-capable.ts';
import { matchesAny } from '../../lib/tools/name-pattern.ts';
import { contextProblem, patternsOf } from '../../lib/tools/name-policy.ts';
import {
  readRegisteredQuery,
  type RegisteredTool,
  type RegisteredTools,
  registeredToolsMax,
  type RegisteredToolsQuery,
  registeredToolsService,
} from '../../lib/tools/registered.ts';
import type { SecurityOf } from '../lane/security-of.ts';
import { permittedTools } from './permitted-tools.ts';
import type { ToolRegistry } from './tool-registry.ts';
import type { GatewayTool } from './tool-source.ts';
import { withSchema } from './whole-schema.ts';

interface ServeRegisteredDeps {
  readonly bus: Pick<EventBus, 'serve'>;
  readonly registry: ToolRegistry;
  readonly securityOf: SecurityOf;
}

/** Bytes of the tools of one answer; the rest of the message is its frame. */
const answerBytes = busLimits.requestBytes - 1_024;
const graceMs = 1_000;

/**
 * Tells the API which registered tools an agent may call (ADR 0084), and API and controllers whether a fleet can run one
 * (requirements AMB-108), until `signal` aborts. Never rejects.
 */
export async function serveRegisteredTools(deps: ServeRegisteredDeps, signal: AbortSignal): Promise<void> {
  const responders = [
    deps.bus.serve({ service: registeredToolsService }, async ({ body }) =>
      JSON.stringify(await toolsFor(deps, readRegisteredQuery(body))),
    ),
    deps.bus.serve({ service: registeredToolService }, async ({ body }) =>
      JSON.stringify(factsOf(deps, readRegisteredToolQuery(body))),
    ),
  ];
  await aborted(signal);
  await Promise.all(responders.map((responder) => responder.close(graceMs)));
}

function factsOf({ registry }: ServeRegisteredDeps, { tenant, tool }: RegisteredToolQuery): RegisteredToolFacts {
  const found = registry.find(tenant, tool);
  return found === undefined ? {} : { fleet_capable: found.fleet_capable };
}

/** Built-in tools are the API's own, which offers them itself. */
async function toolsFor(
  { registry, securityOf }: ServeRegisteredDeps,
  query: RegisteredToolsQuery,
): Promise<RegisteredTools> {
  const { tenant, security_context: context, patterns } = query;
  const security = securityOf(tenant, context);
  // The one who asks has read it: it is on its way to the cache here, or was deleted since, which the one who asks finds out.
  if (security === undefined) throw unread(context);
  const offered = ({ source, notReady, isSettling = false }: GatewayTool): boolean =>
    source !== 'builtin' && (notReady === undefined || isSettling);
  const registered = registry.list(tenant).filter(offered);
  const allowed = await permittedTools(registered, {
    patterns: patterns.length + patternsOf(security),
    isPermitted: ({ name }) => matchesAny(patterns, name) && contextProblem(security, name) === undefined,
  });
  const settling = allowed.find(({ notReady }) => notReady !== undefined);
  if (settling !== undefined) throw notYet(`${settling.name} is not ready yet: ${settling.notReady}`);
  return fitting(allowed);
}

const unread = (context: string): AppError =>
  new AppError('unavailable', `the security context ${context} is not read yet`, { reason: 'ContextUnread' });

const notYet = (message: string): AppError => new AppError('unavailable', message, { reason: 'ToolsUnsettled' });

const offeredOf = ({ name, description, input_schema, skip_judge }: GatewayTool): RegisteredTool => ({
  name,
  description,
  input_schema,
  skip_judge,
});

/** One after another: of tools that have no room, no schema is kept. */
async function fitting(all: readonly GatewayTool[]): Promise<RegisteredTools> {
  let room = answerBytes;
  const tools: RegisteredTool[] = [];
  for (const row of all.slice(0, registeredToolsMax)) {
    const whole = await withSchema(row);
    if (whole === undefined) continue;
    const tool = offeredOf(whole);
    const bytes = Buffer.byteLength(JSON.stringify(tool)) + 1;
    if (bytes > room) continue;
    room -= bytes;
    tools.push(tool);
  }
  return { tools, left_out: all.length - tools.length };
}
