import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { AppError } from '../errors.ts';
import { withoutTrailingSlashes } from '../trailing-slashes.ts';
import {
  type CredentialSource,
  createCredentialSource,
  type Endpoint,
  type HeaderFields,
  type TlsMaterial,
} from './credentials.ts';
import { inClusterCredentials } from './in-cluster.ts';
import { type KubeconfigContext, type KubeconfigFile, type KubeconfigUser, resolveContext } from './kubeconfig.ts';

interface FindCredentialsOptions {
  /** The process's environment: KUBECONFIG, HOME, KUBERNETES_SERVICE_HOST and _PORT. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  /** A kubeconfig file named on the command line; nothing else is looked at then. */
  readonly kubeconfig?: string;
  readonly context?: string;
}

/**
 * Credentials as kubectl finds them: the named file, else the files of KUBECONFIG, else `~/.kube/config`, else the
 * service account of the pod. Throws AppError `invalid` where there are none.
 */
export async function findCredentials(options: FindCredentialsOptions): Promise<CredentialSource> {
  const files = await readFiles(options);
  if (files.length > 0) return kubeconfigCredentials(files, options);
  const inCluster = await inClusterCredentials(options);
  if (inCluster !== undefined) return inCluster;
  throw new AppError('invalid', 'no access to a Kubernetes cluster: set KUBECONFIG or name a kubeconfig file', {
    reason: 'KubeconfigMissing',
  });
}

async function readFiles({ env, kubeconfig }: FindCredentialsOptions): Promise<KubeconfigFile[]> {
  if (kubeconfig !== undefined) return [{ path: kubeconfig, text: await readRequired(kubeconfig) }];
  const named = (env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  const paths = named.length > 0 ? named : [join(env.HOME ?? homedir(), '.kube', 'config')];
  const files: KubeconfigFile[] = [];
  for (const path of paths) {
    const text = await readFile(path, 'utf8').catch(() => undefined);
    if (text !== undefined) files.push({ path, text });
  }
  if (files.length === 0 && named.length > 0) await readRequired(paths[0] ?? '');
  return files;
}

async function readRequired(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new AppError('invalid', `kubeconfig ${path} cannot be read`, { reason: 'KubeconfigMissing', cause });
  }
}

function kubeconfigCredentials(files: readonly KubeconfigFile[], options: FindCredentialsOptions): CredentialSource {
  const context = resolveContext(files, options.context);
  const load = needsPlugin(context.user) ? () => endpointByPlugin(context) : () => endpointOf(context);
  return createCredentialSource(load, { now: options.now, namespace: context.namespace });
}

function needsPlugin(user: KubeconfigUser): boolean {
  return user.exec !== undefined || user['auth-provider'] !== undefined;
}

async function endpointOf(context: KubeconfigContext): Promise<Endpoint> {
  const { user } = context;
  const cert = await pem(user['client-certificate-data'], user['client-certificate']);
  const key = await pem(user['client-key-data'], user['client-key']);
  return {
    ...(await clusterOf(context)),
    headers: { ...(await authorization(user)), ...impersonation(user) },
    tls: {
      ...(await tlsOf(context)),
      cert,
      key,
    },
  };
}

async function clusterOf({ cluster }: KubeconfigContext): Promise<Pick<Endpoint, 'server' | 'proxyUrl'>> {
  return { server: withoutTrailingSlashes(cluster.server), proxyUrl: cluster['proxy-url'] };
}

async function tlsOf({ cluster }: KubeconfigContext): Promise<TlsMaterial> {
  return {
    ca: await pem(cluster['certificate-authority-data'], cluster['certificate-authority']),
    serverName: cluster['tls-server-name'],
    insecureSkipVerify: cluster['insecure-skip-tls-verify'],
  };
}

async function authorization(user: KubeconfigUser): Promise<Record<string, string>> {
  const token = user.tokenFile === undefined ? user.token : (await readFile(user.tokenFile, 'utf8')).trim();
  if (token) return { authorization: `Bearer ${token}` };
  if (user.username === undefined) return {};
  const basic = Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64');
  return { authorization: `Basic ${basic}` };
}

function impersonation(user: KubeconfigUser): HeaderFields {
  if (user.as === undefined) return {};
  return { 'impersonate-user': user.as, 'impersonate-group': user['as-groups'] ?? [] };
}

async function pem(data: string | undefined, file: string | undefined): Promise<string | undefined> {
  if (data) return Buffer.from(data, 'base64').toString('utf8');
  return file === undefined ? undefined : readFile(file, 'utf8');
}

/**
 * Credential plugins and the older auth providers are run by the official client, which is loaded only for them. Its
 * import takes 0.8 s of the processor and 84 MiB (ADR 0108). Neither a controller in a pod nor a certificate user needs
 * it.
 */
async function endpointByPlugin(context: KubeconfigContext): Promise<Endpoint> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromString(
    JSON.stringify({
      clusters: [{ name: 'cluster', cluster: context.cluster }],
      users: [{ name: 'user', user: context.user }],
      contexts: [{ name: 'context', context: { cluster: 'cluster', user: 'user' } }],
      'current-context': 'context',
    }),
  );
  const applied: { headers: Record<string, string>; cert?: unknown; key?: unknown } = { headers: {} };
  await config.applyToHTTPSOptions(applied);
  const { Authorization: header } = applied.headers;
  return {
    ...(await clusterOf(context)),
    headers: { ...(header === undefined ? {} : { authorization: header }), ...impersonation(context.user) },
    tls: { ...(await tlsOf(context)), cert: textOf(applied.cert), key: textOf(applied.key) },
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || Buffer.isBuffer(value) ? value.toString() : undefined;
}
