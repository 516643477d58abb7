import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../clock.ts';
import { ConfigError } from '../config.ts';
import { messageOf } from '../errors.ts';
import { bearerToken } from './bearer-token.ts';
import { createOidcVerifier } from './oidc-verifier.ts';
import type { Logger } from '../logger.ts';
import type { Caller } from './caller.ts';
import { type IdentityConfig, identityOptions } from './config.ts';
import { readIdentity } from './identity.ts';
import { scopeCall } from './scope-call.ts';

interface AuthenticationDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Tells who sends a request. */
export interface Authentication {
  /**
   * @throws AppError `unauthenticated` without a valid token, `unavailable` while the provider's keys cannot be had.
   * HttpError 403 for a bearer without a tenant, 400 for a service account's `X-Tenant-Id` that is not a slug.
   */
  authenticate(headers: IncomingHttpHeaders): Promise<Caller>;
  /** Fetches the provider's keys ahead of the first request: until they are there or `signal` aborts. Never rejects. */
  prepare(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** @throws ConfigError that names the variable. */
export function createAuthentication(deps: AuthenticationDeps, config: IdentityConfig): Authentication {
  const options = identityOptions(config);
  const ca = readCertificates(config.WINDLASS_OIDC_CA_FILE);
  const verifier = createOidcVerifier(
    { ...deps, read: (claims) => readIdentity(claims, options.claims) },
    { ...options.verifier, ca },
  );
  return {
    async authenticate(headers) {
      const identity = await verifier.verify(bearerToken(headers.authorization));
      // Node joins a header that was sent twice; the listener has refused that before.
      return scopeCall(identity, headers['x-tenant-id'] as string | undefined, options.rules);
    },
    prepare: (signal) => verifier.prepare(signal),
    close: () => verifier.close(),
  };
}

/** Read once, at the start of the process: a provider's authority does not change while it runs. */
function readCertificates(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError([{ name: 'WINDLASS_OIDC_CA_FILE', problem: `cannot be read: ${messageOf(error)}` }]);
  }
}
