import type { SecurityContextSpec } from '../../crds/schema/security-context.ts';
import type { WorkflowSpec } from '../../crds/schema/workflow.ts';

/** Scopes of the operations that tools of hosts call (spec 2 §5). */
const scopes = { manage: 'svc.edge.fleet.manage', read: 'svc.edge.fleet.read' } as const;

/** The right to run tools on hosts, which a writer must hold to grant it (ADR 0095). */
export const fleetScope = scopes.manage;

/** Tools that act on hosts of the whole tenant (spec 2 §4.6). */
export const isFleetTool = (name: string): boolean => name.startsWith('svc.edge.');

/** All of them. */
export const fleetScopes: readonly string[] = Object.values(scopes);

/** The scope that the operation of the tool needs over HTTP. */
export const scopeOfFleetTool = (name: string): string =>
  name === 'svc.edge.fleet.list' ? scopes.read : scopes.manage;

/** Those of a caller's scopes that tools of hosts need. */
export const fleetScopesOf = (held: readonly string[]): readonly string[] =>
  fleetScopes.filter((scope) => held.includes(scope));

/** Whether the context is that of an operator or tenant admin, which opens tools of hosts. */
export const opensFleet = ({ tier = 'user' }: Pick<SecurityContextSpec, 'tier'>): boolean => tier !== 'user';

/** Whether a manifest grants tools of hosts. A wider name, such as `svc.*`, does not. */
export const namesFleetTools = (tools: readonly { readonly name: string }[] = []): boolean =>
  tools.some(({ name }) => isFleetTool(name));

/** Whether a workflow gives tools of hosts to those who start it: one of its states calls such a tool (ADR 0096). */
export const callsFleetTools = ({ states }: Pick<WorkflowSpec, 'states'>): boolean =>
  Object.values(states).some((state) => state.kind === 'System' && isFleetTool(state.env?.['tool'] ?? ''));
