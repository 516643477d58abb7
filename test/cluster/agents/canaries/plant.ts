import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KubeClient, secrets } from '../../../../lib/kube/index.ts';
import { install } from '../../chart/release.ts';
import type { Mirror } from './mirror.ts';

const namespace = 'windlass-system';
const name = 'windlass-canaries';
const webhookName = 'windlass-canary-webhooks';

/** The source whose webhooks the planted secret signs. */
export const webhookSource = 'canary';

/** Each by the place where an installation keeps such a secret. */
export interface Planted {
  readonly model: string;
  readonly mirror: string;
  readonly search: string;
  readonly mcp: string;
  readonly program: string;
  readonly webhook: string;
}

interface Site {
  readonly tenant: string;
  readonly mirror: Mirror;
}

/** Gives the installation six secrets of its configuration, and has each of its processes log at debug. */
export async function plant(kube: KubeClient, site: Site): Promise<Planted> {
  const canary = (): string => `canary-${randomBytes(24).toString('hex')}`;
  const { webhook, ...keys } = {
    model: canary(),
    mirror: canary(),
    search: canary(),
    mcp: canary(),
    program: canary(),
    webhook: canary(),
  };
  await create(kube, name, keys);
  await create(kube, webhookName, { [webhookSource.toUpperCase()]: webhook });
  await withValues(valuesOf(site), (file) => install('--values', file, ...dispatchersOf(site.mirror)));
  return { ...keys, webhook };
}

/** The installation as it was. */
export async function uproot(kube: KubeClient): Promise<void> {
  await install();
  for (const each of [name, webhookName]) await kube.delete(secrets, { namespace, name: each });
}

const create = (kube: KubeClient, secret: string, data: Readonly<Record<string, string>>): Promise<unknown> =>
  kube.create(secrets, { metadata: { name: secret, namespace }, stringData: data });

const key = (of: keyof Planted): string => `secret:${name}/${of}`;

/** dev/demo/install gives this list as a whole. */
const dispatchersOf = ({ url }: Mirror): string[] => [
  '--set-json',
  `nodeConfig.builtin_dispatchers=${JSON.stringify([
    { name: 'web.search', provider: 'brave', endpoint: url, api_key: key('search') },
  ])}`,
];

function valuesOf({ tenant, mirror: { address, url } }: Site): object {
  const model = { capabilities: ['reasoning'], context_window: 128_000 };
  const [scripted, mirror] = [
    { alias: 'default', model: 'scripted-1', ...model },
    { alias: 'mirror', model: 'mirror-1', ...model },
  ];
  const endpoint = 'http://scripted-model.windlass-models.svc:8080/v1';
  const command = ['/usr/local/bin/node', '--input-type=module', '--eval'];
  return {
    nodeConfig: {
      llm_providers: [
        { name: 'scripted', type: 'openai', endpoint, api_key: key('model'), models: [scripted] },
        { name: 'mirror', type: 'openai', endpoint: url, api_key: key('mirror'), models: [mirror] },
      ],
      mcp_servers: [
        {
          name: 'notes',
          transport: 'stdio',
          command,
          env: { NOTES_TOKEN: key('program') },
          tenants: ['demo', tenant],
          memory_mb: 128,
        },
        {
          name: 'mirror',
          url: `${url}/mcp`,
          api_key: key('mcp'),
          api_key_header: 'x-mirror-key',
          allow_internal_addresses: [`${address}/32`],
          tenants: [tenant],
        },
      ],
    },
    nodeSecrets: ['windlass-models', name],
    api: { logLevel: 'debug', webhooks: { existingSecret: webhookName } },
    controllers: { logLevel: 'debug' },
    gateway: { logLevel: 'debug', mcpSecrets: [name] },
    relay: { logLevel: 'debug' },
  };
}

async function withValues(values: object, use: (file: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'windlass-canaries-'));
  try {
    const file = join(folder, 'values.json');
    await writeFile(file, JSON.stringify(values));
    await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
