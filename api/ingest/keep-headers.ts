/** Parts of the names of headers that carry a credential, or a proof made with one. */
const secretParts = [
  'authorization',
  'cookie',
  'signature',
  'token',
  'secret',
  'password',
  'credential',
  'api-key',
  'apikey',
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
      .filter(([name]) => !secretParts.some((part) => name.includes(part))),
  );
}
