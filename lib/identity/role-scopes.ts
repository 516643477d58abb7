/** Scopes by role of the provider. */
export type RoleScopes = ReadonlyMap<string, readonly string[]>;

/** A role of the provider that is named like a scope is that scope: `svc.edge.hosts.read` (spec 2 §5, AMB-018). */
const scopePrefix = 'svc.';

const scope = 'svc\\.[a-z0-9_.-]+';
const entry = `[^\\s=;,]+=${scope}(,${scope})*`;
/** Form of a setting that gives roles their scopes: entries `role=scope,scope` with semicolons between them. */
export const roleScopesPattern = `^(${entry}(;${entry})*)?$`;

/** Reads a text of that form. A role that is named twice has the scopes of both entries. */
export function parseRoleScopes(text: string): RoleScopes {
  const scopes = new Map<string, readonly string[]>();
  for (const one of text === '' ? [] : text.split(';')) {
    const [role = '', list = ''] = one.split('=');
    scopes.set(role, [...(scopes.get(role) ?? []), ...list.split(',')]);
  }
  return scopes;
}

/** Every scope of these roles, once. */
export function scopesOf(roles: readonly string[], roleScopes: RoleScopes): readonly string[] {
  const own = roles.filter((role) => role.startsWith(scopePrefix));
  const mapped = roles.flatMap((role) => roleScopes.get(role) ?? []);
  return mapped.length === 0 ? own : [...new Set([...own, ...mapped])];
}
