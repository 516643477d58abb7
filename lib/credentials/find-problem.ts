import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import { hasReason } from '../errors.ts';
import { secretOf } from './credential-keys.ts';
import { readSecret, type SecretReader, type SecretValues } from './read-secret.ts';

/**
 * Why each call with the credential of an ApiSpec would fail before it is sent; undefined where the Secret has what the
 * kind of the credential needs. The text names the Secret, the keys and the way out, and no value.
 * @throws AppError where the Secret could not be read this time.
 */
export type FindCredentialProblem = (spec: Pick<ApiSpec, 'metadata' | 'spec'>) => Promise<string | undefined>;

export function createProblemFinder(deps: SecretReader): FindCredentialProblem {
  return async ({ metadata, spec: { credentials: settings } }) => {
    if (settings === undefined || settings.kind === 'none') return undefined;
    const ref = secretOf(metadata, settings);
    try {
      const secret = await readSecret(deps, ref);
      const problems = ref.keys.flatMap((key) => problemOf(secret, key));
      return problems.length === 0 ? undefined : problems.join('; ');
    } catch (error) {
      return messageOfFailed(error);
    }
  };
}

function problemOf(secret: SecretValues, key: string): string[] {
  try {
    secret.value(key);
    return [];
  } catch (error) {
    return [messageOfFailed(error)];
  }
}

function messageOfFailed(error: unknown): string {
  if (hasReason(error, 'CredentialFailed')) return error.message;
  throw error;
}
