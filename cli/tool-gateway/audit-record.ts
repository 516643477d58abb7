import type { Gateway, GatewayClient } from '../../client/index.ts';
import { CliError } from '../exit-codes.ts';
import type { FilePort } from '../files.ts';

export type AuditEvent = Gateway.ListAuditEventsReply['items'][number];
type Checkpoints = Gateway.ListAuditCheckpointsReply;

/** Inputs of the verification of a record. */
export interface AuditVouchers {
  readonly checkpoints: readonly unknown[];
  /** PEM (SPKI) of the key that the installation signs with. */
  readonly public_key: string;
  /** Those of keys that it signed with before. Absent in records of earlier versions. */
  readonly former_public_keys?: readonly string[] | undefined;
  readonly retained_from: string | null;
}

/** A record in the order of the store: its vouchers, and then the events, as they come. */
export interface AuditSource {
  readonly vouchers: AuditVouchers;
  readonly events: AsyncIterable<unknown>;
}

/** Events of one page. */
const pageEvents = 500;

/** From the gateway. Checkpoints are read first, as they vouch for events that are there by then. */
export async function auditOf(client: GatewayClient, tenant: string | undefined): Promise<AuditSource> {
  const checkpoints: unknown[] = [];
  let cursor: string | undefined;
  for (;;) {
    const { items, next_cursor: next, ...proof }: Checkpoints = await client.listAuditCheckpoints({ tenant, cursor });
    checkpoints.push(...items);
    // A gateway of an older version has no pages, and names no next one.
    cursor = next ?? undefined;
    if (cursor === undefined) return { vouchers: { checkpoints, ...proof }, events: eventsOf(client, { tenant }) };
  }
}

/** Filters of a list of events. */
export type AuditFilter = Omit<Gateway.ListAuditEventsRequest, 'limit' | 'cursor'>;

/** Every event that the filter leaves, page by page. */
export async function* eventsOf(client: GatewayClient, filter: AuditFilter, begin?: string): AsyncIterable<AuditEvent> {
  let cursor = begin;
  do {
    const page = await client.listAuditEvents({ ...filter, limit: pageEvents, cursor });
    yield* page.items;
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
}

/** The lines of a saved record: the vouchers, then one event a line. */
export const savedLine = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** From a file that `--save` wrote. Throws a usage error for another one. */
export async function savedAudit(files: Pick<FilePort, 'read'>, path: string): Promise<AuditSource> {
  const [first = '', ...lines] = (await files.read(path)).split('\n');
  const vouchers = parsed(first, path, 1);
  if (!isVouchers(vouchers)) throw unreadable(path, 1);
  return {
    vouchers,
    events: (async function* () {
      for (const [index, line] of lines.entries()) if (line !== '') yield parsed(line, path, index + 2);
    })(),
  };
}

function parsed(text: string, path: string, line: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable(path, line);
  }
}

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((text) => typeof text === 'string');

const isVouchers = (value: unknown): value is AuditVouchers =>
  typeof value === 'object' &&
  value !== null &&
  'checkpoints' in value &&
  Array.isArray(value.checkpoints) &&
  'public_key' in value &&
  typeof value.public_key === 'string' &&
  (!('former_public_keys' in value) || isTexts(value.former_public_keys)) &&
  'retained_from' in value;

const unreadable = (path: string, line: number): CliError =>
  new CliError('usage', `${path}:${line}: is no saved record`, 'Make one: windlass gateway audit verify --save FILE');
