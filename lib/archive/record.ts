import { promisify } from 'node:util';
import { createGzip, gunzip, type Gzip } from 'node:zlib';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { BlobRef } from '../../crds/schema/workflow-execution-status.ts';
import { AppError } from '../errors.ts';
import type { BlobReader } from '../execution/whole-value.ts';
import { createBlob } from '../output-store/blob.ts';
import { lost } from '../output-store/packed.ts';
import { archiveLimits } from './limits.ts';
import { type Part, partsOf } from './parts.ts';

const decompress = promisify(gunzip);

/** First line of a record, which identifies the file. */
const format = 'windlass.dev/execution-record/1';

/** Why a value is not in the record: `large` above the bound of all values together, `lost` from the output store. */
interface LeftOut extends Part {
  readonly why: 'large' | 'lost';
}

/** The first line of a record; the bytes of the parts follow, in this order, with a line break behind each. */
interface Head {
  readonly format: typeof format;
  readonly execution: WorkflowExecution;
  readonly parts: readonly Part[];
  readonly left_out: readonly LeftOut[];
}

/**
 * The record of a finished execution, gzipped: one line of JSON with the object as it is, then every value that is in
 * the output store, byte for byte. The same execution makes the same bytes. `rest` is awaited between values, so that
 * each has a turn of the event loop of its own.
 */
export async function writeRecord(
  execution: WorkflowExecution,
  read: BlobReader,
  rest: () => Promise<void>,
): Promise<Uint8Array> {
  const { values, leftOut } = await readValues(execution, read, rest);
  await rest();
  const packed = new Packer();
  const parts = values.map(({ part }) => part);
  const head: Head = { format, execution: withoutManagers(execution), parts, left_out: leftOut };
  await packed.add(Buffer.from(`${JSON.stringify(head)}\n`));
  for (const { data } of values) {
    await packed.add(data);
    await packed.add(lineBreak);
  }
  return packed.end();
}

/** Which client wrote which field is bookkeeping of Kubernetes, and often larger than the rest. */
function withoutManagers(execution: WorkflowExecution): WorkflowExecution {
  const { managedFields: _, ...metadata } = execution.metadata as WorkflowExecution['metadata'] & {
    readonly managedFields?: unknown;
  };
  return { ...execution, metadata };
}

const lineBreak = Buffer.from('\n');

/** How many bytes of values a record of the execution holds, at most. */
export const valuesBytesOf = (execution: WorkflowExecution): number =>
  Math.min(
    archiveLimits.valuesBytes,
    partsOf(execution).reduce((sum, { bytes }) => sum + bytes, 0),
  );

interface Values {
  readonly values: readonly { readonly part: Part; readonly data: Uint8Array }[];
  readonly leftOut: readonly LeftOut[];
}

async function readValues(execution: WorkflowExecution, read: BlobReader, rest: () => Promise<void>): Promise<Values> {
  let room: number = archiveLimits.valuesBytes;
  const values: Values['values'][number][] = [];
  const leftOut: LeftOut[] = [];
  for (const part of partsOf(execution)) {
    await rest();
    const data = part.bytes > room ? undefined : await readUnlessLost(part, read);
    if (data === undefined) leftOut.push({ ...part, why: part.bytes > room ? 'large' : 'lost' });
    else {
      room -= part.bytes;
      values.push({ part, data });
    }
  }
  return { values, leftOut };
}

async function readUnlessLost(part: Part, read: BlobReader): Promise<Uint8Array | undefined> {
  try {
    return await read(part);
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** Packs bytes as they come; zlib works in threads of its own. */
class Packer {
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

/** A record that was read. */
export interface ExecutionRecord {
  /** As it ended. */
  readonly execution: WorkflowExecution;
  /** The values that the record holds; what it left out is `not_found`. */
  readonly read: BlobReader;
  readonly leftOut: readonly LeftOut[];
}

/**
 * Opens a record. Never takes more memory than a record may have.
 * @throws AppError `ArchiveRecordBroken`
 */
export async function readRecord(packed: Uint8Array): Promise<ExecutionRecord> {
  const data = await decompress(packed, { maxOutputLength: archiveLimits.recordBytes }).catch((cause: unknown) => {
    throw broken('it does not unpack', cause);
  });
  const end = data.indexOf(lineBreak);
  const head = headOf(data.subarray(0, end));
  const places = new Map<string, Uint8Array>();
  let start = end + 1;
  for (const { ref, bytes } of head.parts) {
    places.set(ref, data.subarray(start, start + bytes));
    start += bytes + lineBreak.byteLength;
  }
  return { execution: head.execution, read: readerOf(places), leftOut: head.left_out };
}

function headOf(line: Buffer): Head {
  try {
    const head = JSON.parse(line.toString('utf8')) as Head | { readonly format: undefined };
    if (head.format === format) return head;
  } catch (error) {
    throw broken('its first line is no JSON', error);
  }
  throw broken('its first line names no format of ours');
}

function readerOf(places: ReadonlyMap<string, Uint8Array>): BlobReader {
  return async ({ ref }: Pick<BlobRef, 'ref'>) => {
    const data = places.get(ref);
    if (data === undefined) throw lost(ref, 'the archive does not hold it');
    if (createBlob(data).ref !== ref) throw lost(ref, 'the archive does not have the bytes that its hash names');
    return data;
  };
}

const broken = (why: string, cause?: unknown): AppError =>
  new AppError('internal', `an archived execution cannot be read: ${why}`, { reason: 'ArchiveRecordBroken', cause });
