import { matchesAny, matchesDenied } from './name-pattern.ts';
import type { ToolCaller, ToolRefusal } from './tool.ts';

/** The manifest names what it uses; the SecurityContext permits it, and what it denies is denied (requirements AMB-195). */
export function nameProblem({ agent, security }: ToolCaller, name: string): ToolRefusal | undefined {
  if (agent !== undefined && !isNamed(agent.spec.tools ?? [], name))
    return policy('ToolNotAllowed', `${name} is not named under spec.tools of the agent ${agent.name}; add it there`);
  if (matchesDenied(security.deny_list ?? [], name)) {
    // Spec 3 §10.3 gives file tools a word of their own.
    const code = name.startsWith('fs.') ? 'PERMISSION_DENIED' : 'ToolNotAllowed';
    return policy(code, `${name} is in deny_list of the SecurityContext`);
  }
  if (matchesAny(security.tools ?? ['*'], name)) return tierProblem(security, name);
  return policy('ToolNotAllowed', `${name} is not in tools of the SecurityContext; add it there`);
}

/** Tools that act on hosts of the whole tenant need the context of an operator or tenant admin (spec 2 §4.6). */
function tierProblem({ tier = 'user' }: ToolCaller['security'], name: string): ToolRefusal | undefined {
  if (tier !== 'user' || !name.startsWith('svc.edge.')) return undefined;
  return policy('ToolNotAllowed', `${name} needs a SecurityContext of tier tenant-admin or operator`);
}

const isNamed = (tools: readonly { readonly name: string }[], name: string): boolean =>
  tools.some((tool) => {
    if (tool.name.endsWith('.*')) return name.startsWith(tool.name.slice(0, -1));
    return tool.name === name || (tool.name === 'cmd' && name === 'cmd.run');
  });

export const policy = (code: string, message: string): ToolRefusal => ({ kind: 'policy', code, message });
