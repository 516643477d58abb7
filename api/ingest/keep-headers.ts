/** Parts of the names of headers that carry a credential, or a proof made with one; hyphens separate words. */
const secretParts = [
  /auth(?!ors?\b)/,
  /cookie/,
  /signature|\bsig\b/,
  /hmac/,
  /jwt/,
  /assertion/,
  /token/,
  /secret/,
  /credential/,
  // Names of an event or a submission are no credentials.
  /(?<!\bevent-|\bidempotency-)key\b/,
  /client-cert/,
  /pass(?:word|code|phrase|wd)|\bpass\b|\bpwd\b/,
  // Secrets for a single use: a second factor, a session, a proof against forged requests.
  /otp\b|\b(?:mfa|2fa|tfa|pin|sid|saml|ticket|proof|dpop|captcha|challenge|nonce|bearer)\b/,
  /session|csrf|xsrf/,
] as const;

/**
 * Values that are credentials in any header: a scheme with one behind it, a JWT, tokens that begin as their service
 * has them begin.
 */
const secretValues = [
  /^(?:basic|bearer|digest|negotiate|token|apikey)\s+\S/i,
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/,
  /\b(?:gh[opsur]_|github_pat_|glpat-|xox[abprs]-|sk-|sk_live_|rk_live_|npm_|hvs\.|AKIA|ASIA)[\w-]{10,}/,
] as const;

/**
 * The headers that are kept of a request, names in lower case. Proofs of the sender are left out, by whatever name
 * services know it (`Authorization`, `X-Svc-Signature`, `X-Gitlab-Token` …): workflows and router agents read the rest
 * (requirements AMB-145).
 */
export function withoutCredentials(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name, value]) => !isSecret(name.replaceAll('_', '-')) && !isSecretValue(value)),
  );
}

const isSecret = (name: string): boolean => secretParts.some((part) => part.test(name));

const isSecretValue = (value: string): boolean => secretValues.some((form) => form.test(value));
