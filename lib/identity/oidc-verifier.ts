import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { createKeySet, type KeySetOptions } from './key-set.ts';
import { identityLimits } from './limits.ts';
import { createProviderDocuments, type ProviderOptions } from './provider-documents.ts';
import {
  type TokenClaims,
  createTokenVerifier,
  type TokenVerifier,
  type TokenVerifierOptions,
} from './token-verifier.ts';

interface OidcVerifierDeps<T> {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly read: (claims: TokenClaims) => T;
}

export type OidcVerifierOptions = ProviderOptions & KeySetOptions & TokenVerifierOptions;

/** Verifies the access tokens of one OpenID Connect provider. */
interface OidcVerifier<T> extends TokenVerifier<T> {
  /** Fetches the provider's keys ahead of the first caller: until they are there or `signal` aborts. Never rejects. */
  prepare(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** @throws AppError `invalid` where the issuer's or the keys' address is not to be trusted. */
export function createOidcVerifier<T>(deps: OidcVerifierDeps<T>, options: OidcVerifierOptions): OidcVerifier<T> {
  const documents = createProviderDocuments(deps.clock, options);
  const keys = createKeySet({ load: () => documents.keys(), clock: deps.clock, logger: deps.logger }, options);
  const verifier = createTokenVerifier({ ...deps, keys }, options);
  const hasKeys = (): Promise<boolean> =>
    keys.version().then(
      () => true,
      () => false,
    );
  return {
    verify: (token) => verifier.verify(token),
    async prepare(signal) {
      while (!signal.aborted && !(await hasKeys())) await deps.clock.sleep(identityLimits.fetchIntervalMs, signal);
    },
    close: () => documents.close(),
  };
}
