import type { BlobRef, StoredValue } from '../../crds/schema/workflow-execution-status.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { AppError } from '../errors.ts';
import type { BlobReader } from '../execution/whole-value.ts';
import { isTooDeep } from '../nesting.ts';
import { createBlob } from '../output-store/blob.ts';
import { lost } from '../output-store/packed.ts';
import { archiveLimits } from './limits.ts';
import { lineBreak, Packer, unpack, withoutManagers } from './packed-lines.ts';

/** First line of a record, which identifies the file. */
const format = 'windlass.dev/execution-record/1';

/** A value in the output store. */
type Part = Pick<BlobRef, 'ref' | 'bytes' | 'encoding'>;

/**
 * Every value of an execution in the output store, each once, ordered by its value to a reader. First is the final
 * output, then the Blackboard, then what earlier visits left.
 */
function partsOf({ status }: WorkflowExecution): readonly Part[] {
  if (status === undefined) return [];
  const refs = [
    ...(status.final_output_ref === undefined ? [] : [status.final_output_ref]),
    ...Object.values(status.blackboard ?? {}).flatMap(refsOf),
    ...[status.feedback, status.human_feedback].flatMap(refsOf),
    ...[status.current?.prompt_ref, status.interrupted?.prompt_ref].filter((ref) => ref !== undefined),
    ...Object.values(status.interrupted?.steps ?? {}).flatMap(({ result }) => refsOf(result)),
    ...(status.history ?? []).toReversed().flatMap(({ output }) => refsOf(output)),
  ];
  const byRef = new Map(refs.map(({ ref, bytes, encoding }) => [ref, { ref, bytes, encoding }]));
  return [...byRef.values()];
}

const refsOf = (stored: StoredValue | undefined): readonly BlobRef[] => stored?.refs ?? [];

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
  const head: Head = { format, execution: writable(withoutManagers(execution)), parts, left_out: leftOut };
  await packed.add(Buffer.from(`${JSON.stringify(head)}\n`));
  for (const { data } of values) {
    await packed.add(data);
    await packed.add(lineBreak);
  }
  return packed.end();
}

/**
 * An execution whose input, or a pair of its Blackboard, was refused for its depth is recorded without it: some thousand
 * levels overflow the stack of each process that writes or reads them.
 */
function writable({ spec, ...execution }: WorkflowExecution): WorkflowExecution {
  const { input, blackboard, ...rest } = spec;
  const pairs = blackboard && Object.entries(blackboard).filter(([, value]) => !isTooDeep(value));
  return {
    ...execution,
    spec: {
      ...rest,
      ...(input !== undefined && !isTooDeep(input) && { input }),
      ...(pairs !== undefined && { blackboard: Object.fromEntries(pairs) }),
    },
  };
}

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
  const { head, data, start: first } = await unpack<Head>(packed, format);
  const places = new Map<string, Uint8Array>();
  let start = first;
  for (const { ref, bytes } of head.parts) {
    places.set(ref, data.subarray(start, start + bytes));
    start += bytes + lineBreak.byteLength;
  }
  return { execution: head.execution, read: readerOf(places), leftOut: head.left_out };
}

function readerOf(places: ReadonlyMap<string, Uint8Array>): BlobReader {
  return async ({ ref }: Pick<BlobRef, 'ref'>) => {
    const data = places.get(ref);
    if (data === undefined) throw lost(ref, 'the archive does not hold it');
    if (createBlob(data).ref !== ref) throw lost(ref, 'the archive does not have the bytes that its hash names');
    return data;
  };
}
