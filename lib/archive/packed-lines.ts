import { promisify } from 'node:util';
import { createGzip, gunzip, type Gzip } from 'node:zlib';
import { AppError } from '../errors.ts';
import type { KubeObject } from '../kube/index.ts';
import { archiveLimits } from './limits.ts';

const decompress = promisify(gunzip);

export const lineBreak = Buffer.from('\n');

/** Packs bytes as they come; zlib works in threads of its own. */
export class Packer {
  readonly #gzip: Gzip = createGzip({ level: 6 });
  readonly #chunks: Buffer[] = [];
  readonly #ended: Promise<void>;

  constructor() {
    this.#gzip.on('data', (chunk: Buffer) => this.#chunks.push(chunk));
    this.#ended = new Promise((resolve, reject) => this.#gzip.once('end', resolve).once('error', reject));
  }

  add(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#gzip.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  }

  async end(): Promise<Uint8Array> {
    this.#gzip.end();
    await this.#ended;
    return Buffer.concat(this.#chunks);
  }
}

/** A record, unpacked. */
interface Unpacked<H> {
  /** Its first line. */
  readonly head: H;
  readonly data: Buffer;
  /** Where the second line begins. */
  readonly start: number;
}

/**
 * Unpacks a record whose first line is JSON with `format`. Never takes more memory than a record may have.
 * @throws AppError `ArchiveRecordBroken`
 */
export async function unpack<H extends { readonly format: string }>(
  packed: Uint8Array,
  format: H['format'],
): Promise<Unpacked<H>> {
  const data = await decompress(packed, { maxOutputLength: archiveLimits.recordBytes }).catch((cause: unknown) => {
    throw broken('it does not unpack', cause);
  });
  const end = data.indexOf(lineBreak);
  return { head: headOf<H>(data.subarray(0, end), format), data, start: end + 1 };
}

function headOf<H extends { readonly format: string }>(line: Buffer, format: H['format']): H {
  try {
    const head = JSON.parse(line.toString('utf8')) as H | { readonly format: undefined };
    if (head.format === format) return head as H;
  } catch (error) {
    throw broken('its first line is no JSON', error);
  }
  throw broken('its first line names no format of ours');
}

const broken = (why: string, cause?: unknown): AppError =>
  new AppError('internal', `an archived execution cannot be read: ${why}`, { reason: 'ArchiveRecordBroken', cause });

/** Which client wrote which field is bookkeeping of Kubernetes, and often larger than the rest. */
export function withoutManagers<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata as T['metadata'] & { readonly managedFields?: unknown };
  return { ...object, metadata };
}
