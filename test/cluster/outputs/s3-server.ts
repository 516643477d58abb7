import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { systemClock } from '../../../lib/clock.ts';
import type { S3StoreOptions } from '../../../lib/output-store/s3-store.ts';
import { freePort } from '../harness/free-port.ts';
import { startDaemon } from './daemon.ts';
import { programPath } from './programs.ts';

/** A real S3-compatible server with one bucket, whose objects are files. */
export interface S3Server {
  readonly options: S3StoreOptions;
  /** The same as environment variables of the controllers and of the command line. */
  readonly env: Readonly<Record<string, string>>;
  /** Keys of all objects in the bucket. */
  keys(): Promise<string[]>;
  readObject(key: string): Promise<Buffer>;
  /** Overwrites an object, as another user with access to the bucket could. */
  writeObject(key: string, data: Uint8Array): Promise<void>;
  stop(): Promise<void>;
}

const bucket = 'outputs';

/** `host`: the address of this machine that its clients reach. */
export async function startS3Server(host = '127.0.0.1'): Promise<S3Server> {
  const program = await programPath('rclone');
  const folder = await mkdtemp(join(tmpdir(), 'windlass-s3-'));
  const inBucket = (key: string): string => join(folder, bucket, key);
  await mkdir(inBucket(''));
  const [accessKeyId, secretAccessKey] = [randomBytes(8).toString('hex'), randomBytes(16).toString('hex')];
  const address = `${host}:${await freePort()}`;
  const server = await startDaemon({
    program,
    args: ['serve', 's3', folder, '--addr', address, '--auth-key', `${accessKeyId},${secretAccessKey}`],
    env: { RCLONE_CONFIG: join(folder, 'no-config') },
    ready: async () => (await fetch(`http://${address}/`)).status > 0,
  });
  const options = { bucket, endpoint: `http://${address}`, region: 'us-east-1', prefix: 'tests/', pathStyle: true };
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({ ...options, forcePathStyle: true, credentials });
  return {
    options: { ...options, credentials, clock: systemClock },
    env: {
      WINDLASS_OUTPUT_STORE: 's3',
      WINDLASS_S3_BUCKET: bucket,
      WINDLASS_S3_ENDPOINT: options.endpoint,
      WINDLASS_S3_PREFIX: options.prefix,
      WINDLASS_S3_PATH_STYLE: 'true',
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
    },
    async keys() {
      const entries = await readdir(inBucket(''), { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile());
      return files.map((file) => join(file.parentPath, file.name).slice(inBucket('').length).replace(/^\//, ''));
    },
    readObject: (key) => readFile(inBucket(key)),
    async writeObject(Key, Body) {
      await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body }));
    },
    async stop() {
      client.destroy();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
