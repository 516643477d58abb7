import type { SecurityContextSpec } from '../../crds/schema/security-context.ts';
import type { SealSession } from '../../lib/envelope/index.ts';
import { AppError } from '../../lib/errors.ts';
import { argumentProblem } from '../../lib/tools/arguments.ts';
import { contextProblem, scopeProblem } from '../../lib/tools/name-policy.ts';
import type { ToolRefusal } from '../../lib/tools/tool.ts';
import { RefusedCall } from './refused-call.ts';
import type { GatewayTool, ToolSource } from './tool-source.ts';

/** Every tool of the gateway, of all sources. */
export interface ToolRegistry {
  /** Tools that a tenant sees, each name once, in the order of their names. */
  list(tenant: string | undefined): GatewayTool[];
  /** @throws AppError `unavailable` where no source has the name and one that may have it is yet to be read. */
  find(tenant: string | undefined, name: string): GatewayTool | undefined;
  /** @throws AppError `unavailable` where `list` would leave out tools that are yet to be read. */
  requireRead(tenant: string | undefined): void;
}

/** The first source that has a name wins. */
export function createToolRegistry(sources: readonly ToolSource[]): ToolRegistry {
  return {
    list(tenant) {
      const found = new Map<string, GatewayTool>();
      for (const source of sources)
        for (const tool of source.list(tenant)) if (!found.has(tool.name)) found.set(tool.name, tool);
      return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
    },
    find(tenant, name) {
      for (const source of sources) {
        const tool = source.find(tenant, name);
        if (tool !== undefined) return tool;
      }
      requireRead(sources, tenant, name);
      return undefined;
    },
    requireRead: (tenant) => requireRead(sources, tenant),
  };
}

function requireRead(sources: readonly ToolSource[], tenant: string | undefined, name?: string): void {
  for (const source of sources) {
    const unread = source.unread?.(tenant, name);
    if (unread !== undefined)
      throw new AppError('unavailable', `${unread} are not read yet; try again`, { reason: 'ToolsUnread' });
  }
}

/**
 * Why a security context or a session keeps a tool from being called. One that an operator made grants no more than its maker held (ADR 0095); that of an
 * agent's pod has the rights of its agent, which the API checks.
 */
export function sessionProblem(
  { registered, scopes = [] }: Pick<SealSession, 'registered' | 'scopes'>,
  security: SecurityContextSpec,
  name: string,
): ToolRefusal | undefined {
  const problem = contextProblem(security, name);
  return problem === undefined && registered !== undefined ? scopeProblem(scopes, name) : problem;
}

/** Why arguments do not fit a tool: required ones first, in the order of its schema (spec 3 §10.2). */
export function argumentsProblem(
  { name, input_schema: schema }: Pick<GatewayTool, 'name' | 'input_schema'>,
  args: unknown,
): ToolRefusal | undefined {
  const { required, ...rest } = schema;
  const names = Array.isArray(required) ? required.filter((field) => typeof field === 'string') : [];
  return argumentProblem({ name, input_schema: { ...rest, required: names } }, args);
}

/**
 * For sources: the schema may have changed since the lane checked the arguments by that of the tool which it found.
 * @throws RefusedCall
 */
export function requireFitting(tool: Pick<GatewayTool, 'name' | 'input_schema'>, args: unknown): void {
  const problem = argumentsProblem(tool, args);
  if (problem !== undefined) throw new RefusedCall(problem);
}
