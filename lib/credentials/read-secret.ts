import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { findObject, isForbidden, type KubeClient, lacksRights, type Secret, secrets } from '../kube/index.ts';
import { tryPaced } from '../retry.ts';
import { credentialLimits } from './credential.ts';

/** The label of Secrets that the gateway may use. RBAC cannot filter by label. */
const credentialLabel = 'windlass.dev/credential';

interface SecretRef {
  readonly namespace: string;
  readonly name: string;
  /** Those that the credential needs. */
  readonly keys: readonly string[];
}

export interface SecretReader {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly clock: Pick<Clock, 'sleep'>;
}

export interface SecretValues {
  /** Changes with every change of the Secret. */
  readonly version: string;
  /** @throws AppError `terminal` for a key that is absent, or whose value no header can carry. */
  value(key: string): string;
}

/**
 * The Secret of a credential.
 * @throws AppError `terminal` with the reason CredentialFailed where it is absent, lacks the label, or is refused for some seconds.
 */
export async function readSecret(deps: SecretReader, ref: SecretRef): Promise<SecretValues> {
  const secret = await read(deps, ref);
  if (secret?.metadata.labels?.[credentialLabel] !== 'true') {
    const keys = `the key${ref.keys.length === 1 ? '' : 's'} ${ref.keys.map((key) => `'${key}'`).join(' and ')}`;
    const absent = `there is no Secret ${ref.name} with the label ${credentialLabel}=true in the namespace ${ref.namespace}`;
    throw credentialFailed(`${absent}; create it with ${keys}, and with the label`);
  }
  const { uid, resourceVersion } = secret.metadata;
  return {
    version: `${uid}/${resourceVersion}`,
    value(key) {
      const encoded = secret.data?.[key];
      if (encoded === undefined)
        throw credentialFailed(`Secret ${ref.name} in the namespace ${ref.namespace} lacks the key '${key}'; add it`);
      // A line feed at the end is what editors and echo leave.
      const text = Buffer.from(encoded, 'base64')
        .toString('utf8')
        .replace(/\r?\n$/, '');
      if (isCarried(text)) return text;
      const most = credentialLimits.valueLength;
      throw credentialFailed(`the key ${key} of Secret ${ref.name} must have 1 to ${most} visible ASCII characters`);
    },
  };
}

/** Waits before a Secret is read again that was refused: the server may have just begun (ADR 0142). */
const refusedAgainMs = [100, 400, 1_000, 1_500];

function read({ kube, clock }: SecretReader, ref: SecretRef): Promise<Secret | undefined> {
  const pauseAfter = (error: unknown, failures: number): number => {
    const pauseMs = lacksRights(error) ? refusedAgainMs[failures - 1] : undefined;
    if (pauseMs !== undefined) return pauseMs;
    if (!isForbidden(error)) throw error;
    const message = `the gateway may not read Secret ${ref.name}; its namespace lacks the gateway's role`;
    throw credentialFailed(message, error);
  };
  return tryPaced({ clock, pauseAfter }, () => findObject(kube, secrets, ref));
}

/** Text that a header carries as it is: nothing in it can begin another header. */
const isCarried = (text: string): boolean => text.length <= credentialLimits.valueLength && /^[\x20-\x7e]+$/.test(text);

export const credentialFailed = (message: string, cause?: unknown): AppError =>
  new AppError('terminal', message, { reason: 'CredentialFailed', cause });
