import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KubeClient, secrets } from '../../../../lib/kube/index.ts';
import { install } from '../../chart/release.ts';
import type { S3Server } from '../../outputs/s3-server.ts';
import type { GrpcPeer } from './grpc-peer.ts';
import type { Mirror } from './mirror.ts';
import { forgetPaymentMirror, usePaymentMirror } from './payment-mirror.ts';

const namespace = 'windlass-system';
const name = 'windlass-canaries';
const webhookName = 'windlass-canary-webhooks';
const grpcName = 'windlass-canary-grpc';

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
  readonly payment: string;
  readonly bucket: string;
}

interface Site {
  readonly tenant: string;
  readonly mirror: Mirror;
  readonly bucket: S3Server;
  readonly peer: GrpcPeer;
}

/** Gives the installation secrets of its configuration, and has each of its processes log at debug. */
export async function plant(kube: KubeClient, site: Site): Promise<Planted> {
  const canary = (): string => `canary-${randomBytes(24).toString('hex')}`;
  const { webhook, ...keys } = {
    model: canary(),
    mirror: canary(),
    search: canary(),
    mcp: canary(),
    program: canary(),
    webhook: canary(),
    payment: canary(),
  };
  const { accessKeyId, secretAccessKey: bucket } = site.bucket.options.credentials ?? missing();
  const s3 = { access_key_id: accessKeyId, secret_access_key: bucket };
  await create(kube, name, { ...keys, ...s3, secret_key: keys.payment });
  await create(kube, grpcName, site.peer.secret);
  await create(kube, webhookName, { [webhookSource.toUpperCase()]: webhook });
  await usePaymentMirror();
  await withValues(valuesOf(site), (file) => install('--values', file, ...dispatchersOf(site.mirror)));
  return { ...keys, webhook, bucket };
}

function missing(): never {
  throw new Error('the server of the bucket has no credentials');
}

/** The installation as it was. */
export async function uproot(kube: KubeClient): Promise<void> {
  await forgetPaymentMirror();
  await install();
  for (const each of [name, webhookName, grpcName]) await kube.delete(secrets, { namespace, name: each });
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

/** Addresses of a browser, which the API asks for beside the key. */
const page = 'https://shop.example.com/';
const pages = { successUrl: page, cancelUrl: page, returnUrl: page };

function valuesOf({ tenant, mirror: { address, url }, bucket }: Site): object {
  const model = { capabilities: ['reasoning'], context_window: 128_000 };
  const [scripted, mirror] = [
    { alias: 'default', model: 'scripted-1', ...model },
    { alias: 'mirror', model: 'mirror-1', ...model },
  ];
  const command = ['/usr/local/bin/node', '--input-type=module', '--eval'];
  return {
    nodeConfig: {
      llm_providers: [
        { name: 'scripted', type: 'openai', endpoint: `${url}/pass/v1`, api_key: key('model'), models: [scripted] },
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
    outputStore: storeOf(bucket),
    api: {
      logLevel: 'debug',
      webhooks: { existingSecret: webhookName },
      grpc: { tlsSecret: grpcName },
      billing: { existingSecret: name, ...pages },
    },
    controllers: { logLevel: 'debug' },
    gateway: { logLevel: 'debug', mcpSecrets: [name] },
    relay: { logLevel: 'debug' },
  };
}

function storeOf({ options: { bucket, endpoint, prefix } }: S3Server): object {
  return { kind: 's3', s3: { bucket, endpoint, prefix, pathStyle: true, existingSecret: name } };
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
