import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectDir } from '../harness/project.ts';
import { startDaemon } from '../outputs/daemon.ts';
import { programPath } from '../outputs/programs.ts';

const run = promisify(execFile);

export interface Login {
  readonly username: string;
  readonly password: string;
}

/** A real registry that serves only clients with the right password. */
export interface PrivateRegistry {
  readonly host: string;
  readonly login: Login;
  /** Puts the busybox image there under a name and gives its reference. */
  push(repository: string, tag: string): Promise<string>;
  stop(): Promise<void>;
}

/** `host` is where the cluster's nodes expect a registry that speaks plain HTTP, with the port. */
export async function startPrivateRegistry(host: string): Promise<PrivateRegistry> {
  const folder = await mkdtemp(join(tmpdir(), 'windlass-registry-'));
  // Once: images are pushed at the same time.
  const { stdout } = await run(join(projectDir, 'dev', 'images', 'build'), ['busybox'], { timeout: 600_000 });
  await run('tar', ['-xf', stdout.trim(), '-C', folder]);
  const config = join(folder, 'config.yml');
  await writeFile(config, JSON.stringify(configuration(folder, host)));
  const registry = await startDaemon({
    program: await programPath('registry'),
    args: ['serve', config],
    ready: async () => (await fetch(`http://${host}/v2/`)).status === 401,
  });
  const login = madeUpLogin(registry.output());
  return {
    host,
    login,
    push: (repository, tag) => push({ host, login, folder }, repository, tag),
    async stop() {
      await registry.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Without a file of passwords the registry makes one up, and tells it once. */
const configuration = (folder: string, addr: string): object => ({
  version: 0.1,
  log: { level: 'info', formatter: 'json' },
  storage: { filesystem: { rootdirectory: join(folder, 'data') } },
  auth: { htpasswd: { realm: 'tests', path: join(folder, 'htpasswd') } },
  http: { addr },
});

function madeUpLogin(output: string): Login {
  for (const line of output.split('\n').filter((text) => text.includes('"password"'))) {
    const { user, password } = JSON.parse(line) as { user?: string; password?: string };
    if (user !== undefined && password !== undefined) return { username: user, password };
  }
  throw new Error(`the registry has not printed its password:\n${output}`);
}

interface Target {
  readonly host: string;
  readonly login: Login;
  readonly folder: string;
}

async function push({ host, login, folder }: Target, repository: string, tag: string): Promise<string> {
  const base = `http://${host}/v2/${repository}`;
  const authorization = `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`;
  const upload = async (data: Buffer, mediaType: string) => {
    const digest = `sha256:${createHash('sha256').update(data).digest('hex')}`;
    const begun = await fetch(`${base}/blobs/uploads/`, { method: 'POST', headers: { authorization } });
    const place = new URL(begun.headers.get('location') ?? '', base);
    place.searchParams.set('digest', digest);
    await expectCreated(fetch(place, { method: 'PUT', headers: { authorization }, body: data }));
    return { mediaType, digest, size: data.byteLength };
  };
  const manifest = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: await upload(await ownConfig(folder, `${repository}:${tag}`), 'application/vnd.oci.image.config.v1+json'),
    layers: [await upload(await readFile(join(folder, 'layer.tar')), 'application/vnd.oci.image.layer.v1.tar')],
  };
  const headers = { authorization, 'content-type': manifest.mediaType };
  await expectCreated(fetch(`${base}/manifests/${tag}`, { method: 'PUT', headers, body: JSON.stringify(manifest) }));
  return `${host}/${repository}:${tag}`;
}

/**
 * An image of its own by its id: the kubelet remembers by the id that an image was pulled with a secret, and would then
 * run the same image under another name for no other pod.
 */
async function ownConfig(folder: string, name: string): Promise<Buffer> {
  const image = JSON.parse(await readFile(join(folder, 'config.json'), 'utf8')) as { config?: object };
  return Buffer.from(JSON.stringify({ ...image, config: { ...image.config, Labels: { name } } }));
}

async function expectCreated(answer: Promise<Response>): Promise<void> {
  const { status, url } = await answer;
  if (status !== 201) throw new Error(`the registry answered ${status} to ${new URL(url).pathname}`);
}
