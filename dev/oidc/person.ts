/** A person who signs in, or a machine: the provider believes the claim. */
export interface Person {
  /** Claim `sub`. */
  readonly name: string;
  /** Claim `tenant_id`; none without. */
  readonly tenant?: string;
  /** Claim `svc_role`: a string for one, a list for several, none without. */
  readonly roles?: readonly string[];
  /** Claim `identity_kind`. */
  readonly kind?: string;
  /** Claim `preferred_username`. Default: the name. */
  readonly username?: string;
}

/**
 * A person as text: `anna?tenant=acme&role=svc:operator`. It is what the provider knows an account or a client by, so
 * that there is no list of users to keep, and nothing is forgotten when it starts again.
 */
export function formatPerson({ name, tenant, roles = [], kind, username }: Person): string {
  const facts = new URLSearchParams();
  if (tenant !== undefined) facts.append('tenant', tenant);
  for (const role of roles) facts.append('role', role);
  if (kind !== undefined) facts.append('kind', kind);
  if (username !== undefined) facts.append('username', username);
  const text = facts.toString();
  return text === '' ? encodeURIComponent(name) : `${encodeURIComponent(name)}?${text}`;
}

/** The person that a text describes. */
export function parsePerson(text: string): Person {
  const [name = '', facts = ''] = text.split('?', 2);
  const found = new URLSearchParams(facts);
  return {
    name: decodeURIComponent(name),
    tenant: found.get('tenant') ?? undefined,
    roles: found.getAll('role'),
    kind: found.get('kind') ?? undefined,
    username: found.get('username') ?? undefined,
  };
}

/** Claims of an access token beside those that every token has. */
export function claimsOf({ name, tenant, roles = [], kind, username }: Person): Record<string, unknown> {
  return {
    preferred_username: username ?? name,
    ...(tenant === undefined ? {} : { tenant_id: tenant }),
    ...(roles.length === 0 ? {} : { svc_role: roles.length === 1 ? roles[0] : roles }),
    ...(kind === undefined ? {} : { identity_kind: kind }),
  };
}
