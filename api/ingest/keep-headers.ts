/** Parts of the names of headers that carry a credential, or a proof made with one; words stand between hyphens. */
const secretParts = [
  /auth(?!ors?\b)/,
  /cookie/,
  /signature|\bsig\b/,
  /hmac/,
  /jwt/,
  /assertion/,
  /token/,
  /secret/,
  /password/,
  /credential/,
  // What names an event or a submission is no credential.
  /(?<!\bevent-|\bidempotency-)key\b/,
  /client-cert/,
] as const;

/**
 * The headers that are kept of a request, names in lower case. What proves who sent it is left out, by whatever name
 * services know it (`Authorization`, `X-Svc-Signature`, `X-Gitlab-Token` …): workflows and router agents read the rest
 * (requirements AMB-145).
 */
export function withoutCredentials(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name]) => !isSecret(name.replaceAll('_', '-'))),
  );
}

const isSecret = (name: string): boolean => secretParts.some((part) => part.test(name));
