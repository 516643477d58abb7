import type * as Sdk from '@aws-sdk/client-s3';
import { type Clock, resultWithin } from '../clock.ts';
import { AppError, messageOf } from '../errors.ts';
import { lost } from './packed.ts';

/** A bucket, and how it is reached. Credentials are found as the AWS SDK finds them, unless they are given. */
export interface S3BucketOptions {
  readonly bucket: string;
  /** URL of an S3-compatible server; absent: that of AWS for the region. */
  readonly endpoint?: string | undefined;
  readonly region: string;
  /** Put before every key. */
  readonly prefix: string;
  /** The bucket is in the path and not in the host name. */
  readonly pathStyle: boolean;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Asked before every write; what it throws ends the call with nothing written. */
  readonly guard?: () => void;
  readonly clock: Clock;
}

/** Milliseconds until a server that does not answer counts as down; the SDK then tries twice more. */
const connectMs = 5_000;
/** From the begin of a request to its answer, and between two parts of a body. */
const answerMs = 15_000;
/** One call with all its attempts and the body. Callers have a place of few, and lose it to a call without an end. */
export const callMs = 45_000;

/**
 * Our calls to a bucket. The SDK is loaded at the first use. Calls throw AppError `unavailable` where it is away, or does not
 * end within `callMs`.
 */
export interface S3Bucket {
  /** Gives the number of bytes back. */
  write(key: string, body: Uint8Array): Promise<number>;
  /** Throws AppError `OutputLost` where there is no such object, or where it has more than `bytesMax` bytes. */
  read(key: string, bytesMax: number): Promise<Uint8Array>;
  /** Copies an object inside the server; false where there is none under `from`. */
  copy(from: string, to: string): Promise<boolean>;
  /** Keys that begin with `folder`, in order: those behind `after`, `limit` of them or a thousand. */
  keys(folder: string, after?: string, limit?: number): Promise<readonly string[]>;
  /** Deletes these objects, a thousand at most; those that are gone already count as deleted. */
  remove(keys: readonly string[]): Promise<void>;
  /** Deletes every object whose key begins with `folder`. */
  clear(folder: string): Promise<void>;
}

export function createS3Bucket(options: S3BucketOptions): S3Bucket {
  let opened: Promise<Opened> | undefined;
  const { bucket, clock } = options;
  const call = <T>(work: (commands: Commands) => Promise<T>): Promise<T> =>
    named(
      bucket,
      inTime(clock, async (signal) => work({ ...(await (opened ??= open(options))), signal })),
    );
  return {
    write: (key, body) => call((commands) => write(commands, key, body)),
    read: (key, bytesMax) => call((commands) => read(commands, key, bytesMax)),
    copy: (from, to) => call((commands) => copy(commands, from, to)),
    keys: (folder, after, limit) => call((commands) => listed(commands, folder, { after, limit })),
    remove: (keys) => call((commands) => remove(commands, keys)),
    async clear(folder) {
      // A page at a time, and always the first one: what was listed before is gone by then.
      const page = (): Promise<string[]> => call((commands) => listed(commands, folder));
      for (let keys = await page(); keys.length > 0; keys = await page()) {
        await call((commands) => remove(commands, keys));
      }
    },
  };
}

/** Rejects when the time is up, whatever holds the work: the SDK heeds the signal in a request, not between two. */
async function inTime<T>(clock: Clock, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController();
  const ended = await resultWithin(
    clock,
    callMs,
    work(over.signal).then((value) => ({ value })),
  );
  if (ended !== undefined) return ended.value;
  over.abort();
  throw new Error(`no answer within ${callMs / 1_000} s`);
}

async function open(options: S3BucketOptions): Promise<Opened> {
  const sdk = await import('@aws-sdk/client-s3');
  const client = new sdk.S3Client(clientConfig(options));
  const { bucket: Bucket, guard = () => undefined } = options;
  return { sdk, client, Bucket, guard };
}

/** Servers answer with a word such as AccessDenied; which bucket it is about is for us to say. */
async function named<T>(bucket: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof AppError) throw error;
    const message = `output store, bucket ${bucket}: ${messageOf(error)}`;
    throw new AppError('unavailable', message, { reason: 'OutputStoreUnavailable', cause: error });
  }
}

function clientConfig({ endpoint, region, pathStyle, credentials }: S3BucketOptions): Sdk.S3ClientConfig {
  return {
    region,
    forcePathStyle: pathStyle,
    requestHandler: {
      connectionTimeout: connectMs,
      requestTimeout: callMs,
      // Without it the SDK prints a warning and waits on.
      throwOnRequestTimeout: true,
      socketTimeout: answerMs,
    },
    // Many S3-compatible servers do not know the checksums that AWS asks for since 2025; the hash in the key is ours.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
  };
}

interface Opened {
  readonly sdk: typeof Sdk;
  readonly client: Sdk.S3Client;
  readonly Bucket: string;
  readonly guard: () => void;
}

/** Means of one call, until its signal ends it. */
interface Commands extends Opened {
  readonly signal: AbortSignal;
}

async function write(commands: Commands, Key: string, Body: Uint8Array): Promise<number> {
  const { sdk, client, Bucket, guard, signal: abortSignal } = commands;
  guard();
  const command = new sdk.PutObjectCommand({ Bucket, Key, Body, ContentType: 'application/gzip' });
  await client.send(command, { abortSignal });
  return Body.byteLength;
}

async function copy(commands: Commands, from: string, Key: string): Promise<boolean> {
  const { sdk, client, Bucket, guard, signal: abortSignal } = commands;
  guard();
  // The only key of a request that the SDK does not escape; those that we make need it for the prefix alone.
  const CopySource = `${Bucket}/${from}`.split('/').map(encodeURIComponent).join('/');
  try {
    await client.send(new sdk.CopyObjectCommand({ Bucket, Key, CopySource }), { abortSignal });
    return true;
  } catch (error) {
    if (error instanceof sdk.S3ServiceException && error.name === 'NoSuchKey') return false;
    throw error;
  }
}

async function read(commands: Commands, Key: string, bytesMax: number): Promise<Uint8Array> {
  const { sdk, client, Bucket, signal: abortSignal } = commands;
  try {
    // One byte more than may be there shows that there is too much; a server that ignores the range is cut off.
    const command = new sdk.GetObjectCommand({ Bucket, Key, Range: `bytes=0-${bytesMax}` });
    const { Body } = await client.send(command, { abortSignal });
    return Body === undefined ? new Uint8Array() : await bounded(Body.transformToWebStream(), Key, bytesMax);
  } catch (error) {
    if (error instanceof Error && error.name === 'InvalidRange')
      throw lost(Key, `it is empty in bucket ${Bucket}`, error);
    if (!(error instanceof sdk.NoSuchKey)) throw error;
    throw lost(Key, `it is gone from bucket ${Bucket}`, error);
  }
}

async function bounded(stream: ReadableStream<Uint8Array>, key: string, bytesMax: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of stream) {
    parts.push(part);
    bytes += part.byteLength;
    if (bytes > bytesMax) throw lost(key, `the object has more than ${bytesMax} bytes`);
  }
  return Buffer.concat(parts);
}

interface Listing {
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

async function listed(
  { sdk, client, Bucket, signal: abortSignal }: Commands,
  Prefix: string,
  { after: StartAfter, limit: MaxKeys }: Listing = {},
): Promise<string[]> {
  const command = new sdk.ListObjectsV2Command({ Bucket, Prefix, StartAfter, MaxKeys });
  const { Contents = [] } = await client.send(command, { abortSignal });
  return Contents.flatMap(({ Key }) => (Key === undefined ? [] : [Key]));
}

async function remove(commands: Commands, keys: readonly string[]): Promise<void> {
  const { sdk, client, Bucket, guard, signal: abortSignal } = commands;
  guard();
  if (keys.length === 0) return;
  const Objects = keys.map((Key) => ({ Key }));
  const command = new sdk.DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } });
  const { Errors = [] } = await client.send(command, { abortSignal });
  const [first] = Errors;
  if (first === undefined) return;
  throw new Error(`${Errors.length} objects are not deleted, first ${first.Key ?? ''}: ${first.Message ?? first.Code}`);
}
