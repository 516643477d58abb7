import {
  type CryptoKey,
  decodeJwt,
  errors,
  type JWSHeaderParameters,
  type JWTPayload,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { acceptedAlgorithms, type SignatureAlgorithm } from './algorithms.ts';
import type { KeySet } from './key-set.ts';
import { identityLimits } from './limits.ts';
import { createVerifiedTokens, type VerifiedTokens } from './verified-tokens.ts';

/** Claims of a token whose signature, issuer, audience and times were checked. */
export type TokenClaims = Readonly<Record<string, unknown>> & { readonly sub: string };

interface TokenVerifierDeps<T> {
  readonly keys: KeySet;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Makes of the claims what callers need; once for a token, however often it is used. */
  readonly read: (claims: TokenClaims) => T;
}

export interface TokenVerifierOptions {
  /** Compared letter by letter, a trailing slash included (spec 3 §5.1). */
  readonly issuer: string;
  /** The token's `aud` is this, or a list that holds it. */
  readonly audience: string;
  readonly algorithms: readonly SignatureAlgorithm[];
}

/** Tells whether a bearer token is what it says. */
export interface TokenVerifier<T> {
  /**
   * @throws AppError `unauthenticated` for any token that is not valid, with the reason in a debug log and nowhere else;
   * `unavailable` when there are no keys to tell by.
   */
  verify(token: string): Promise<T>;
}

export function createTokenVerifier<T>(deps: TokenVerifierDeps<T>, options: TokenVerifierOptions): TokenVerifier<T> {
  return new JwtVerifier(deps, options);
}

/** Media types of access tokens (RFC 9068 and before); an ID, logout or event token is none. Keycloak's claim says Bearer. */
const tokenTypes = new Set(['JWT', 'AT+JWT', 'BEARER']);

class JwtVerifier<T> implements TokenVerifier<T> {
  readonly #deps: TokenVerifierDeps<T>;
  readonly #checks: JWTVerifyOptions & { readonly issuer: string };
  readonly #verified: VerifiedTokens<T>;

  constructor(deps: TokenVerifierDeps<T>, options: TokenVerifierOptions) {
    this.#deps = deps;
    this.#checks = {
      issuer: options.issuer,
      audience: options.audience,
      algorithms: acceptedAlgorithms(options.algorithms),
      clockTolerance: identityLimits.leewaySeconds,
      requiredClaims: ['exp', 'sub'],
    };
    this.#verified = createVerifiedTokens(deps.clock);
  }

  async verify(token: string): Promise<T> {
    if (token.length > identityLimits.tokenBytes) throw this.#refusal({ reason: 'TooLarge' });
    const keys = await this.#deps.keys.version();
    const known = this.#verified.get(token, keys);
    if (known !== undefined) return known;
    const claims = await this.#check(token);
    const value = this.#deps.read(claims);
    this.#verified.add(token, { value, keys, ...validity(claims) });
    return value;
  }

  async #check(token: string): Promise<TokenClaims> {
    try {
      // Before any key is looked for: a token of another provider starts no fetch.
      if (decodeJwt(token).iss !== this.#checks.issuer) throw this.#refusal({ reason: 'Issuer' });
      const { payload, protectedHeader } = await this.#verifySignature(token);
      if (!isAccessToken(protectedHeader, payload)) throw this.#refusal({ reason: 'TokenType' });
      // RFC 7800: it is valid only with proof of a key, which this API does not request.
      if (payload['cnf'] !== undefined) throw this.#refusal({ reason: 'BoundToKey' });
      if (!Number.isFinite(payload.exp)) throw this.#refusal({ reason: 'Expiry' });
      if (!hasSubject(payload)) throw this.#refusal({ reason: 'Subject' });
      return payload;
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw this.#refusal(reasonOf(error));
    }
  }

  async #verifySignature(token: string): Promise<JWTVerifyResult> {
    const { clock, keys } = this.#deps;
    const options = { ...this.#checks, currentDate: new Date(clock.now()) };
    let unnamed: CryptoKey | undefined;
    const verify = (refuted?: CryptoKey): Promise<JWTVerifyResult> =>
      jwtVerify(
        token,
        async (header) => {
          const key = await keys.find(header, refuted);
          if (key === undefined) throw this.#refusal({ reason: 'UnknownKey' });
          if (header.kid === undefined) unnamed = key;
          return key;
        },
        options,
      );
    try {
      return await verify();
    } catch (error) {
      // A token that names no key may have been signed with one that is newer than those we know.
      if (unnamed === undefined || !(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
      return verify(unnamed);
    }
  }

  /** Neither the token nor its claims are logged, and the client learns nothing. */
  #refusal(why: { readonly reason: string; readonly claim?: string }): AppError {
    this.#deps.logger.debug(why, 'token refused');
    return new AppError('unauthenticated', 'unauthorized', { reason: why.reason });
  }
}

function reasonOf(error: unknown): { readonly reason: string; readonly claim?: string } {
  if (error instanceof errors.JWTClaimValidationFailed) return { reason: error.code, claim: error.claim };
  return { reason: error instanceof errors.JOSEError ? error.code : 'Malformed' };
}

/**
 * A client that is named like the audience gets ID tokens for it, signed with the same key. Keycloak tells them apart by
 * a claim `typ`; the hash of the access token (OpenID Connect Core §3.1.3.6) is in ID tokens only.
 */
function isAccessToken(header: JWSHeaderParameters, payload: JWTPayload): boolean {
  return isTokenType(header.typ) && isTokenType(payload['typ']) && payload['at_hash'] === undefined;
}

function isTokenType(typ: unknown): boolean {
  if (typeof typ !== 'string') return typ === undefined;
  return tokenTypes.has(typ.toUpperCase().replace(/^APPLICATION\//, ''));
}

/** The subject is written down as the author of decisions, so it must be something that can be read. */
function hasSubject(payload: JWTPayload): payload is TokenClaims & JWTPayload {
  const { sub } = payload;
  if (typeof sub !== 'string' || sub === '' || sub.length > identityLimits.subjectLength) return false;
  return !/\p{Cc}/u.test(sub);
}

/** Never wider than what the check itself allows. */
function validity({ exp, nbf }: JWTPayload): { readonly from: number; readonly until: number } {
  const leeway = identityLimits.leewaySeconds;
  return {
    from: nbf === undefined ? Number.NEGATIVE_INFINITY : (nbf - leeway) * 1_000,
    until: ((exp ?? 0) + leeway) * 1_000,
  };
}
