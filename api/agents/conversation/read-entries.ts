import { setImmediate } from 'node:timers/promises';
import type { ConversationRecord } from '../../../lib/conversation/record.ts';
import { jsonCost } from '../../../lib/http/json-cost.ts';
import type { PlacedRecord } from './feed.ts';

/** An entry as a log or an archive holds it: its place, and the JSON of its record. */
interface StoredEntry {
  readonly sequence: number;
  readonly body: Uint8Array;
}

/** Bytes of entries that are read in one turn of the event loop, unless one alone has more. */
export const entryTurnBytes = 65_536;

/** The records of entries, each parsed when it is asked for. Only our own processes write them. */
export async function* recordsIn(entries: readonly StoredEntry[]): AsyncGenerator<PlacedRecord> {
  for await (const { sequence, text } of textsIn(entries))
    yield { sequence, record: JSON.parse(text) as ConversationRecord };
}

/** The same as a list, for which `reserve` waits for so many bytes of memory first. */
export async function readRecords(
  entries: readonly StoredEntry[],
  reserve?: (bytes: number) => Promise<void>,
): Promise<readonly PlacedRecord[]> {
  if (reserve !== undefined) {
    let bytes = 0;
    for await (const { text } of textsIn(entries)) bytes += jsonCost(text);
    await reserve(bytes);
  }
  const records: PlacedRecord[] = [];
  for await (const placed of recordsIn(entries)) records.push(placed);
  return records;
}

async function* textsIn(entries: readonly StoredEntry[]) {
  let left = entryTurnBytes;
  for (const { sequence, body } of entries) {
    left -= body.byteLength;
    if (left < 0) {
      await setImmediate();
      left = entryTurnBytes - body.byteLength;
    }
    yield { sequence, text: Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8') };
  }
}
