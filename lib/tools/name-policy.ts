import { isFleetTool, opensFleet, scopeOfFleetTool } from './fleet-rights.ts';
import { matchesAny, matchesDenied } from './name-pattern.ts';
import type { ToolCaller, ToolRefusal } from './tool.ts';

/** The manifest names what it uses; the SecurityContext permits it, and what it denies is denied (requirements AMB-195). */
export function nameProblem({ agent, security, scopes = [] }: ToolCaller, name: string): ToolRefusal | undefined {
  if (agent === undefined) return contextProblem(security, name) ?? scopeProblem(scopes, name);
  if (isNamed(agent.spec.tools ?? [], name)) return contextProblem(security, name);
  return policy('ToolNotAllowed', `${name} is not named under spec.tools of the agent ${agent.name}; add it there`);
}

/** Why a SecurityContext keeps a tool from being called; deny wins. */
export function contextProblem(security: ToolCaller['security'], name: string): ToolRefusal | undefined {
  if (matchesDenied(security.deny_list ?? [], name)) {
    // Spec 3 §10.3 gives file tools a word of their own.
    const code = name.startsWith('fs.') ? 'PERMISSION_DENIED' : 'ToolNotAllowed';
    return policy(code, `${name} is in deny_list of the SecurityContext; remove it there to permit the tool`);
  }
  if (matchesAny(security.tools ?? ['*'], name)) return tierProblem(security, name);
  return policy('ToolNotAllowed', `${name} is not in tools of the SecurityContext; add it there`);
}

/** Patterns that `contextProblem` tests a name by. */
export const patternsOf = ({ tools = [], deny_list: denied = [] }: ToolCaller['security']): number =>
  tools.length + denied.length;

/** Tools that act on hosts of the whole tenant need the context of an operator or tenant admin (spec 2 §4.6). */
function tierProblem(security: ToolCaller['security'], name: string): ToolRefusal | undefined {
  if (!isFleetTool(name) || opensFleet(security)) return undefined;
  return policy('ToolNotAllowed', `${name} needs a SecurityContext of tier tenant-admin or operator; set spec.tier`);
}

/** A session grants no more than its maker held (ADR 0095). */
export function scopeProblem(scopes: readonly string[], name: string): ToolRefusal | undefined {
  if (!isFleetTool(name) || scopes.includes(scopeOfFleetTool(name))) return undefined;
  const message = `${name} needs a session whose maker holds the scope ${scopeOfFleetTool(name)}; make another session`;
  return policy('ToolNotAllowed', message);
}

const isNamed = (tools: readonly { readonly name: string }[], name: string): boolean =>
  tools.some((tool) => {
    // Tools of hosts are named for themselves: the writer of such a manifest must hold the right to them (ADR 0095).
    if (isFleetTool(name) && !isFleetTool(tool.name)) return false;
    if (tool.name.endsWith('.*')) return name.startsWith(tool.name.slice(0, -1));
    return tool.name === name || (tool.name === 'cmd' && name === 'cmd.run');
  });

export const policy = (code: string, message: string): ToolRefusal => ({ kind: 'policy', code, message });
