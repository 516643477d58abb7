/** Claims of a token, to be shown and not to be relied on: nobody has verified it. Empty for what is no JWT. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> {
  const [, payload = ''] = token.split('.');
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return typeof claims === 'object' && claims !== null ? { ...claims } : {};
  } catch {
    return {};
  }
}

/** Whom a token is about. */
export function subjectOf(token: string): string {
  const { sub } = claimsOf(token);
  return typeof sub === 'string' && sub !== '' ? sub : 'unknown';
}

/** What people call whom a token is about: some providers have ids as subjects. */
export function nameOf(token: string): string {
  const { preferred_username: name } = claimsOf(token);
  return typeof name === 'string' && name !== '' ? name : subjectOf(token);
}
