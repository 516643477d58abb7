import type { Address, EventBus } from '../bus/index.ts';
import { AppError } from '../errors.ts';
import { isJsonObject } from '../json-object.ts';
import type { NodeRecord } from './node-record.ts';

/**
 * Outcomes of a run under way that no part of its record has yet. The process that drives the run has them in memory and
 * answers requests for them page by page; nothing is written for a reader.
 */
export const openRecordsAddress = (run: string): Address => ({ service: 'fleet.records', key: run });

/** Place of the first outcome that is asked for, among all outcomes of the run. */
interface PageRequest {
  readonly from: number;
}

interface OpenRecordsPage {
  readonly records: readonly NodeRecord[];
  /** Where the next page begins; absent on the last one. */
  readonly next?: number;
}

/** Bytes of records in one page as JSON: an answer of the bus takes 512 KiB. */
const pageBytes = 400 * 1_024;

/** One page of the outcomes in memory, of which `stored` earlier ones are in the record already. Pure. */
export function openRecordsPage(records: readonly NodeRecord[], stored: number, from: number): OpenRecordsPage {
  const first = Math.max(0, from - stored);
  let bytes = 0;
  for (let index = first; index < records.length; index += 1) {
    bytes += Buffer.byteLength(JSON.stringify(records[index]));
    if (bytes > pageBytes && index > first) return { records: records.slice(first, index), next: stored + index };
  }
  return { records: records.slice(first) };
}

/** Reads a request for a page; an unreadable one asks for the first. */
export function pageStart(body: Uint8Array): number {
  const request: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
  const from = isJsonObject(request) ? request['from'] : undefined;
  return typeof from === 'number' && Number.isSafeInteger(from) && from >= 0 ? from : 0;
}

const waitMs = 2_000;
/** A process keeps a few hundred outcomes of a run, of 9 KiB each, before it stores them. */
const pagesMost = 32;

/**
 * The outcomes of a run that its record lacked when this was called, in their order. A part of the record that was
 * stored meanwhile may repeat them. Empty where no process drives the run, or the bus is away.
 */
export async function readOpenRecords(bus: Pick<EventBus, 'request'>, run: string): Promise<NodeRecord[]> {
  const records: NodeRecord[] = [];
  let from: number | undefined = 0;
  for (let page = 0; page < pagesMost && from !== undefined; page += 1) {
    const answer: OpenRecordsPage | undefined = await askPage(bus, run, { from });
    records.push(...(answer?.records ?? []));
    from = answer?.next;
  }
  return records;
}

async function askPage(
  bus: Pick<EventBus, 'request'>,
  run: string,
  request: PageRequest,
): Promise<OpenRecordsPage | undefined> {
  try {
    const body = await bus.request(openRecordsAddress(run), JSON.stringify(request), { timeoutMs: waitMs });
    // Only the controllers serve the address.
    return JSON.parse(Buffer.from(body).toString('utf8')) as OpenRecordsPage;
  } catch (error) {
    if (error instanceof AppError && (error.code === 'unavailable' || error.code === 'timeout')) return undefined;
    throw error;
  }
}
