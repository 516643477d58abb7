import { AppError } from '../errors.ts';
import { findObject, isForbidden, type KubeClient, secrets } from '../kube/index.ts';
import { credentialLimits } from './credential.ts';

/** The label of Secrets that the gateway may use. RBAC cannot filter by label. */
const credentialLabel = 'windlass.dev/credential';

interface SecretRef {
  readonly namespace: string;
  readonly name: string;
}

export interface SecretValues {
  /** Changes with every change of the Secret. */
  readonly version: string;
  /** @throws AppError `terminal` for a key that is absent, or whose value no header can carry. */
  value(key: string): string;
}

/**
 * The Secret of a credential.
 * @throws AppError `terminal` with the reason CredentialFailed where it is absent, lacks the label or is refused.
 */
export async function readSecret(kube: Pick<KubeClient, 'get'>, ref: SecretRef): Promise<SecretValues> {
  const secret = await findObject(kube, secrets, ref).catch((error: unknown) => {
    if (!isForbidden(error)) throw error;
    throw credentialFailed(
      `the gateway may not read Secret ${ref.name}; its namespace lacks the gateway's role`,
      error,
    );
  });
  if (secret?.metadata.labels?.[credentialLabel] !== 'true') {
    throw credentialFailed(
      `there is no Secret ${ref.name} with the label ${credentialLabel}=true in the namespace ${ref.namespace}`,
    );
  }
  const { uid, resourceVersion } = secret.metadata;
  return {
    version: `${uid}/${resourceVersion}`,
    value(key) {
      const encoded = secret.data?.[key];
      if (encoded === undefined) throw credentialFailed(`Secret ${ref.name} lacks the key ${key}`);
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

/** Text that a header carries as it is: nothing in it can begin another header. */
const isCarried = (text: string): boolean => text.length <= credentialLimits.valueLength && /^[\x20-\x7e]+$/.test(text);

export const credentialFailed = (message: string, cause?: unknown): AppError =>
  new AppError('terminal', message, { reason: 'CredentialFailed', cause });
