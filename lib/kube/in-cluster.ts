import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { type CredentialSource, createCredentialSource } from './credentials.ts';

const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

interface InClusterOptions {
  /** The process's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  /** Folder with `token`, `ca.crt` and `namespace`. */
  readonly folder?: string;
}

/**
 * Credentials of the pod's service account, or undefined outside a pod. The token is read again every minute, so
 * the kubelet's rotation is followed.
 */
export async function inClusterCredentials(options: InClusterOptions): Promise<CredentialSource | undefined> {
  const { env, now, folder = serviceAccountFolder } = options;
  const host = env.KUBERNETES_SERVICE_HOST;
  const namespace = await readOr(`${folder}/namespace`);
  if (!host || namespace === undefined) return undefined;
  const port = env.KUBERNETES_SERVICE_PORT ?? '443';
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  return createCredentialSource(
    async () => {
      const [token, ca] = await Promise.all([
        readFile(`${folder}/token`, 'utf8'),
        readFile(`${folder}/ca.crt`, 'utf8'),
      ]);
      return { server, tls: { ca }, headers: { authorization: `Bearer ${token.trim()}` } };
    },
    { now, namespace: namespace.trim() },
  );
}

async function readOr(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return undefined;
  }
}
