import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { archiveLimits } from './limits.ts';
import { lineBreak, Packer, unpack, withoutManagers } from './packed-lines.ts';

/** First line of a record, which identifies the file. */
const format = 'windlass.dev/agent-execution-record/1';

interface Head {
  readonly format: typeof format;
  readonly execution: AgentExecution;
  /** Entries of the conversation that the record does not hold: its last ones. */
  readonly left_out: number;
}

/** An entry as the log of conversations holds it: its place, and JSON of one line. */
export interface StoredEntry {
  readonly sequence: number;
  readonly body: Uint8Array;
}

/** Entries behind a place, the oldest first, a page at most; empty where there are none. */
export type EntryReader = (after: number) => Promise<readonly StoredEntry[]>;

/**
 * The record of a finished execution of an agent, gzipped. It is one line of JSON with the object as it is, then each
 * entry of its conversation as a line `[place,entry]`, up to `archiveLimits.valuesBytes`. `rest` is awaited between
 * pages, so that each has a turn of the event loop of its own.
 */
export async function writeAgentRecord(
  execution: AgentExecution,
  read: EntryReader,
  rest: () => Promise<void>,
): Promise<Uint8Array> {
  const { lines, leftOut } = await readLines(read, rest);
  await rest();
  const packed = new Packer();
  const head: Head = { format, execution: withoutManagers(execution), left_out: leftOut };
  await packed.add(Buffer.from(`${JSON.stringify(head)}\n`));
  for (const line of lines) {
    await packed.add(line);
    await packed.add(lineBreak);
  }
  return packed.end();
}

async function readLines(read: EntryReader, rest: () => Promise<void>) {
  const lines: Uint8Array[] = [];
  let [room, leftOut, after]: [number, number, number] = [archiveLimits.valuesBytes, 0, 0];
  for (;;) {
    await rest();
    const page = await read(after);
    for (const { sequence, body } of page) {
      after = sequence;
      const line = Buffer.from(`[${sequence},${Buffer.from(body).toString('utf8')}]`);
      // Nothing comes after a gap.
      if (leftOut > 0 || line.byteLength > room) leftOut += 1;
      else {
        room -= line.byteLength;
        lines.push(line);
      }
    }
    if (page.length === 0) return { lines, leftOut };
  }
}

/** A record that was read. */
export interface AgentRecord {
  /** As it ended. */
  readonly execution: AgentExecution;
  /** Entries of the conversation behind a place, the oldest first: as many as a page has, or a small one. */
  readonly entriesBehind: (after: number, isSmall?: boolean) => readonly StoredEntry[];
  /** How many of the last entries the record does not hold. */
  readonly leftOut: number;
}

/**
 * Opens a record. Never takes more memory than a record may have.
 * @throws AppError `ArchiveRecordBroken`
 */
export async function readAgentRecord(packed: Uint8Array): Promise<AgentRecord> {
  const { head, data, start } = await unpack<Head>(packed, format);
  return {
    execution: head.execution,
    leftOut: head.left_out,
    entriesBehind: (after, isSmall = false) =>
      pageBehind(data.subarray(start), after, isSmall ? archiveLimits.bytesOfSmallPage : archiveLimits.bytesOfPage),
  };
}

/** Parts of the record itself. One entry may have more than `bytes`. */
function pageBehind(data: Buffer, after: number, bytes: number): readonly StoredEntry[] {
  const found: StoredEntry[] = [];
  let [start, room] = [placeBehind(data, after), bytes];
  while (start < data.byteLength && found.length < archiveLimits.entriesOfPage) {
    const end = data.indexOf(lineBreak, start);
    const { sequence, comma } = sequenceAt(data, start);
    room -= end - start;
    if (room < 0 && found.length > 0) return found;
    found.push({ sequence, body: data.subarray(comma + 1, end - 1) });
    start = end + lineBreak.byteLength;
  }
  return found;
}

/** Where the first line behind a place begins. Lines are in the order of their places, so it looks at few of them. */
function placeBehind(data: Buffer, after: number): number {
  let [low, high] = [0, data.byteLength];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const before = middle < lineBreak.byteLength ? -1 : data.lastIndexOf(lineBreak, middle - lineBreak.byteLength);
    const start = before === -1 ? 0 : before + lineBreak.byteLength;
    if (sequenceAt(data, start).sequence > after) high = start;
    else low = data.indexOf(lineBreak, middle) + lineBreak.byteLength;
  }
  return low;
}

function sequenceAt(data: Buffer, start: number) {
  const comma = data.indexOf(',', start);
  return { sequence: Number(data.toString('latin1', start + 1, comma)), comma };
}
