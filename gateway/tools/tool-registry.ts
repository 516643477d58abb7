import type { SecurityContextSpec } from '../../crds/schema/agent.ts';
import { argumentProblem } from '../../lib/tools/arguments.ts';
import { matchesAny, matchesDenied } from '../../lib/tools/name-pattern.ts';
import type { ToolRefusal } from '../../lib/tools/tool.ts';
import type { GatewayTool, ToolSource } from './tool-source.ts';

/** Every tool of the gateway, of all sources. */
export interface ToolRegistry {
  /** Tools that a tenant sees, each name once, in the order of their names. */
  list(tenant: string | undefined): GatewayTool[];
  find(tenant: string | undefined, name: string): GatewayTool | undefined;
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
      return undefined;
    },
  };
}

/** Why a security context keeps a tool from being called; deny wins (requirements AMB-195). */
export function policyProblem(security: SecurityContextSpec, name: string): ToolRefusal | undefined {
  if (matchesDenied(security.deny_list ?? [], name)) {
    const code = name.startsWith('fs.') ? 'PERMISSION_DENIED' : 'ToolNotAllowed';
    return { kind: 'policy', code, message: `${name} is in deny_list of the security context` };
  }
  if (matchesAny(security.tools ?? ['*'], name)) return undefined;
  const message = `${name} is not in tools of the security context; add it there`;
  return { kind: 'policy', code: 'ToolNotAllowed', message };
}

/** Why arguments do not fit a tool: required ones first, in the order of its schema (spec 3 §10.2). */
export function argumentsProblem({ name, input_schema: schema }: GatewayTool, args: unknown): ToolRefusal | undefined {
  const { required, ...rest } = schema;
  const names = Array.isArray(required) ? required.filter((field) => typeof field === 'string') : [];
  return argumentProblem({ name, input_schema: { ...rest, required: names } }, args);
}
