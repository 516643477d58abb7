import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  configMaps,
  type KubeClient,
  namespaces,
  networkPolicies,
  type NetworkPolicy,
  pods,
  secrets,
} from '../../../lib/kube/index.ts';
import { podLog } from '../harness/pod-log.ts';
import { projectDir } from '../harness/project.ts';
import { testRunLabel } from '../harness/test-namespace.ts';
import { waitForObject } from '../harness/wait.ts';

const name = 'git-server';
const image = 'windlass.local/git-server:dev';

/** Debian's git server in a pod, in a namespace that is no tenant's, and the Secrets `https` and `ssh` of the tenant for it. */
export interface GitServer {
  readonly https: string;
  readonly http: string;
  readonly ssh: string;
  /** Password and private key; they may be nowhere but in the Secrets and at the server. */
  readonly canaries: readonly string[];
  readonly log: () => Promise<string>;
  /** Puts a commit of another author on the branch main: one file with this text. Resolves to its hash. */
  commit(file: string, text: string): Promise<string>;
  remove(): Promise<void>;
}

/** Needs the image of dev/images/recipes/git-server.sh on the nodes. */
export async function startGitServer(kube: KubeClient, tenant: string): Promise<GitServer> {
  const namespace = `${tenant}-git`;
  const labels = { [testRunLabel]: 'true', 'pod-security.kubernetes.io/enforce': 'restricted' };
  await kube.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } });
  const program = readFileSync(join(projectDir, 'test/cluster/git/git-server.sh'), 'utf8');
  await kube.create(configMaps, { metadata: { name, namespace }, data: { 'server.sh': program } });
  const keys = await makeKeys();
  await kube.create(secrets, { metadata: { name, namespace }, data: encoded(keys.server) });
  await kube.create(pods, podOf(namespace));
  const pod = await waitForObject(kube, { resource: pods, namespace, name }, ({ status }) =>
    (status?.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True'),
  );
  const address = pod.status?.podIP ?? '';
  await openEgress(kube, tenant, address);
  for (const [secret, values] of Object.entries(keys.tenant(address)))
    await kube.create(secrets, { metadata: { name: secret, namespace: tenant }, data: encoded(values) });
  return {
    https: `https://${address}:8443/site.git`,
    http: `http://${address}:8080/site.git`,
    ssh: `ssh://git@${address}:2222/srv/site.git`,
    canaries: keys.canaries,
    log: () => podLog(kube, { namespace, name }),
    commit: (file, text) => commitOn(namespace, { file, text }),
    remove: async () => void (await kube.delete(namespaces, { name: namespace }, { propagation: 'Background' })),
  };
}

const commands = `set -eu
export HOME=/srv GIT_CONFIG_GLOBAL=/srv/gitconfig
cd /srv/tmp/site
git fetch --quiet origin main
git checkout --quiet -B main FETCH_HEAD
cat >"$1"
git add --all
git -c user.name=s -c user.email=s@x commit --quiet --message other
git push --quiet origin main
git rev-parse HEAD`;

async function commitOn(
  namespace: string,
  { file, text }: { readonly file: string; readonly text: string },
): Promise<string> {
  const running = run('kubectl', ['exec', '-i', '-n', namespace, name, '--', 'sh', '-c', commands, 'sh', file]);
  running.child.stdin?.end(text);
  return (await running).stdout.trim();
}

const encoded = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));

/** Pods of the tenant's bindings may reach the server; that of a test tenant may reach names alone. */
async function openEgress(kube: KubeClient, namespace: string, address: string): Promise<void> {
  const policy: NetworkPolicy = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'git-server', namespace },
    spec: {
      podSelector: { matchExpressions: [{ key: 'windlass.dev/git-binding', operator: 'Exists' }] },
      policyTypes: ['Egress'],
      egress: [{ to: [{ ipBlock: { cidr: `${address}/32` } }] }],
    },
  };
  await kube.create(networkPolicies, policy);
}

const run = promisify(execFile);

async function makeKeys() {
  const folder = await mkdtemp(join(tmpdir(), 'windlass-git-'));
  try {
    const at = (file: string) => join(folder, file);
    for (const key of ['host', 'user'])
      await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', at(key)]);
    const subject = ['-subj', '/CN=git-server', '-addext', 'subjectAltName=DNS:git-server'];
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
    await run('openssl', [
      'req',
      '-x509',
      ...kind,
      ...subject,
      '-keyout',
      at('authority.key'),
      '-out',
      at('authority'),
    ]);
    const read = (file: string) => readFile(at(file), 'utf8');
    const password = `canary-${randomBytes(24).toString('hex')}`;
    const { stdout: hash } = await run('openssl', ['passwd', '-apr1', password]);
    const privateKey = await read('user');
    const server = {
      'ssh-host': await read('host'),
      'ssh-user.pub': await read('user.pub'),
      'authority.crt': await read('authority'),
      'authority.key': await read('authority.key'),
      htpasswd: `agent:${hash.trim()}\n`,
    };
    const hostKey = await read('host.pub');
    const tenant = (address: string) => ({
      https: { host: address, username: 'agent', password, 'ca.crt': server['authority.crt'] },
      ssh: {
        host: `[${address}]:2222`,
        'ssh-privatekey': privateKey,
        known_hosts: `[${address}]:2222 ${hostKey}`,
      },
      'for-others': { host: 'git.example.org', password },
    });
    return { server, tenant, canaries: [password, privateKey.split('\n')[2] ?? password] };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function podOf(namespace: string) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65_532,
        runAsGroup: 65_532,
        fsGroup: 65_532,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: 'server',
          image,
          imagePullPolicy: 'IfNotPresent',
          command: ['sh', '/program/server.sh'],
          env: [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
          readinessProbe: { tcpSocket: { port: 8_443 }, periodSeconds: 1 },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          volumeMounts: [
            { name: 'program', mountPath: '/program', readOnly: true },
            { name: 'keys', mountPath: '/keys', readOnly: true },
            { name: 'data', mountPath: '/srv' },
          ],
        },
      ],
      volumes: [
        { name: 'program', configMap: { name } },
        { name: 'keys', secret: { secretName: name } },
        { name: 'data', emptyDir: {} },
      ],
    },
  };
}
