import { hash } from 'node:crypto';
import { cutMiddle } from '../cut-text.ts';
import { canonicalJson } from '../definition/canonical.ts';
import { AppError } from '../errors.ts';
import { isJsonObject } from '../json-object.ts';
import type { GatewayEvent } from './gateway-event.ts';
import { auditLimits } from './limits.ts';

/**
 * An event as it is stored: CloudEvents 1.0 with extensions. The events of one tenant and lane are a chain: `sequence`
 * rises by one, and `previous` is the `hash` of the event before.
 */
export interface ChainedEvent {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: '/windlass/gateway';
  readonly type: string;
  readonly subject: string;
  readonly time: string;
  readonly datacontenttype: 'application/json';
  /** Absent where the event belongs to none. */
  readonly tenant?: string;
  /** Absent outside of calls. */
  readonly invocationid?: string;
  readonly lane: string;
  readonly sequence: number;
  readonly previous: string;
  /** SHA-256 of the canonical JSON (RFC 8785) of all other members, in lower-case hexadecimal. */
  readonly hash: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The end of a chain. */
export interface ChainEnd {
  readonly sequence: number;
  readonly hash: string;
  /** RFC 3339. */
  readonly time: string;
}

/** Predecessor of the first event of a chain. */
export const chainStart: ChainEnd = { sequence: 0, hash: '0'.repeat(64), time: '1970-01-01T00:00:00.000Z' };

/** An event before its place in the chain is known. */
export type UnlinkedEvent = Omit<ChainedEvent, 'lane' | 'sequence' | 'previous' | 'hash'>;

/** @throws AppError `limit_exceeded` where the data is larger than an event may be. */
export function unlinkedEvent(event: GatewayEvent, id: string, time: string): UnlinkedEvent {
  const { type, tenant, subject, invocationId } = event;
  return {
    specversion: '1.0',
    id,
    source: '/windlass/gateway',
    type,
    subject: cutMiddle(subject, auditLimits.textLength),
    time,
    datacontenttype: 'application/json',
    ...(tenant === undefined ? {} : { tenant }),
    ...(invocationId === undefined ? {} : { invocationid: invocationId }),
    data: boundedData(event.data),
  };
}

/** As JSON gives it back, so that the hash of what is read is that of what was written. */
function boundedData(data: GatewayEvent['data']): ChainedEvent['data'] {
  const flat = flatData(data);
  if (flat !== undefined) return flat;
  const text = JSON.stringify(data, (_key, value: unknown) =>
    typeof value === 'string' ? cutMiddle(value, auditLimits.textLength) : value,
  );
  const bytes = Buffer.byteLength(text);
  if (bytes <= auditLimits.dataBytes) return JSON.parse(text) as ChainedEvent['data'];
  throw new AppError('limit_exceeded', `data of an audit event: ${bytes} bytes of at most ${auditLimits.dataBytes}`, {
    reason: 'AuditEventTooLarge',
  });
}

/** Bytes of JSON that a UTF-16 unit takes at most, and a member beside its texts. */
const longest = { unit: 6, member: 32 };

/**
 * The same without a text in between, for data of texts, numbers and truth values that is certainly small enough; undefined
 * for other data. A signed call of a chain writes seven events of this kind.
 */
function flatData(data: GatewayEvent['data']): ChainedEvent['data'] | undefined {
  const flat: Record<string, unknown> = {};
  let bytes = 0;
  for (const key of Object.keys(data)) {
    const value = data[key];
    if (value === undefined) continue;
    // A member of this name would be set as the prototype.
    if (!isFlat(value) || key === '__proto__') return undefined;
    const member = typeof value === 'string' ? cutMiddle(value, auditLimits.textLength) : value;
    const units = key.length + (typeof member === 'string' ? member.length : 0);
    bytes += units * longest.unit + longest.member;
    if (bytes > auditLimits.dataBytes) return undefined;
    flat[key] = member;
  }
  return flat;
}

const isFlat = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);

/** The canonical JSON of an event, but for the members that its place gives it: `lane`, `previous` and `sequence`. */
export interface WrittenEvent {
  /** Up to those members, in the order of their names, and behind them. */
  readonly before: string;
  readonly behind: string;
  /** RFC 3339. */
  readonly time: string;
}

/** Written once: what is hashed is what is stored, whatever place the event gets in the end. */
export function writtenEvent(event: UnlinkedEvent): WrittenEvent {
  const { data, datacontenttype, id, invocationid, source, specversion, subject, tenant, time, type } = event;
  const ofCall = invocationid === undefined ? '' : `,"invocationid":${JSON.stringify(invocationid)}`;
  const ofTenant = tenant === undefined ? '' : `,"tenant":${JSON.stringify(tenant)}`;
  return {
    before: `{"data":${canonicalJson(data)},"datacontenttype":"${datacontenttype}","id":${JSON.stringify(id)}${ofCall}`,
    behind:
      `"source":"${source}","specversion":"${specversion}","subject":${JSON.stringify(subject)}${ofTenant}` +
      `,"time":${JSON.stringify(time)},"type":${JSON.stringify(type)}}`,
    time,
  };
}

/** The end of a chain, and the JSON of its event. */
export type LinkedEvent = ChainEnd & { readonly text: string };

/** The event at the end of a chain. Pure. */
export function linked({ before, behind, time }: WrittenEvent, lane: string, end: ChainEnd): LinkedEvent {
  const sequence = end.sequence + 1;
  const place = `"lane":${JSON.stringify(lane)},"previous":${JSON.stringify(end.hash)},"sequence":${sequence}`;
  const hashed = `${before},${place},${behind}`;
  const own = hash('sha256', hashed);
  return { sequence, hash: own, time, text: `${hashed.slice(0, -1)},"hash":"${own}"}` };
}

/** The right `hash` of an event. */
export function hashOf(event: ChainedEvent): string {
  const { hash: _hash, ...rest } = event;
  return hash('sha256', canonicalJson(rest));
}

/** Whether JSON has what a link of a chain needs. */
export function isChainedEvent(value: unknown): value is ChainedEvent {
  if (!isJsonObject(value)) return false;
  const { lane, sequence, previous, hash: own, time, tenant } = value;
  const isText = [lane, previous, own, time].every((text) => typeof text === 'string');
  return isText && Number.isSafeInteger(sequence) && (tenant === undefined || typeof tenant === 'string');
}
