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
 * Values that are credentials in any header: a scheme with one behind it, tokens that begin as their service has them
 * begin. A repetition without an upper bound occurs only behind `^`: elsewhere the search would begin it at each
 * character anew, and its work would grow with the square of the value.
 */
const secretValues = [
  /^(?:basic|bearer|digest|negotiate|token|apikey)\s+\S/i,
  /\b(?:gh[opsur]_|github_pat_|glpat-|xox[abprs]-|sk-|sk_live_|rk_live_|npm_|hvs\.|AKIA|ASIA)[\w-]{10}/,
] as const;

/** The header of a JWT, which is JSON in base64url, and may have other letters before it. */
const jwtHead = /\beyJ[\w-]{8}/;
const jwtClaimsLength = 8;

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

const isSecretValue = (value: string): boolean => secretValues.some((form) => form.test(value)) || holdsJwt(value);

/** Whether three parts of a JWT are in it with points between them; the last may be empty. */
const holdsJwt = (value: string): boolean => value.split(/[^\w.-]/).some((word) => hasJwtParts(word.split('.')));

const hasJwtParts = (parts: readonly string[]): boolean =>
  parts.slice(0, -2).some((head, at) => jwtHead.test(head) && (parts[at + 1] ?? '').length >= jwtClaimsLength);
