import type { Clock } from '../../lib/clock.ts';
import { assertPayloadFields, edgeLimits } from '../../lib/edge/index.ts';
import { messageOf } from '../../lib/errors.ts';
import { createFairPool } from '../../lib/fair-pool.ts';
import { createLoopTurns } from '../../lib/loop-turns.ts';
import { isTooDeep } from '../../lib/nesting.ts';
import type { Any } from '../../proto/generated/google/protobuf/any.ts';
import { Struct } from '../../proto/generated/google/protobuf/struct.ts';

/** A payload as it is kept, or why it cannot be. */
export type Payload = { readonly kept: unknown } | { readonly problem: string };

/** Reads a payload for a tenant, in the tenant's turn. Rejects with AppError `unavailable` where no turn comes. */
export type ReadPayload = (tenant: string, payload: Any) => Promise<Payload>;

/** A payload of more bytes is decoded in one turn of the event loop, and judged in the next. */
const longBytes = 16 * 1024;

const nextTurn = createLoopTurns(1);

/**
 * Makes objects of the payloads of all hosts. The payloads of one turn of the event loop have as many fields together as the largest one
 * may have, and tenants take turns: however many hosts one of them has, a probe and the hosts of others are heard in between.
 */
export function createReadPayload(clock: Clock): ReadPayload {
  const turns = createFairPool({ size: edgeLimits.payloadFields, clock });
  return async (tenant, { typeUrl, value }) => {
    if (!typeUrl.endsWith('/google.protobuf.Struct')) return { problem: 'the payload is no google.protobuf.Struct' };
    if (value.length > edgeLimits.payloadBytes)
      return { problem: `the payload has more than ${edgeLimits.payloadBytes} bytes` };
    // A field has two bytes at least.
    const entry = { tenant, cost: Math.ceil(value.length / 2) };
    const part = turns.tryEnter(entry) ?? (await turns.enter(entry));
    try {
      const decoded = decode(value);
      if ('problem' in decoded) return decoded;
      if (value.length > longBytes) await nextTurn(1);
      return judged(decoded.kept);
    } finally {
      void nextTurn(1).then(() => part.leave());
    }
  };
}

function decode(value: Uint8Array): Payload {
  try {
    assertPayloadFields(value);
  } catch (error) {
    return { problem: `the payload cannot be read: ${messageOf(error)}` };
  }
  try {
    return { kept: Struct.unwrap(Struct.decode(value)) };
  } catch {
    return { problem: 'the payload cannot be read' };
  }
}

function judged(payload: unknown): Payload {
  if (isTooDeep(payload)) return { problem: 'the payload is nested too deep' };
  if (!isJson(payload)) return { problem: 'the payload has a number that JSON does not have: NaN or an infinite one' };
  const size = Buffer.byteLength(JSON.stringify(payload));
  if (size > edgeLimits.payloadJsonBytes)
    return { problem: `the payload as JSON has ${size} bytes; at most ${edgeLimits.payloadJsonBytes} are kept` };
  return { kept: payload };
}

/** Whether each number is finite; a `Struct` may hold others, which JSON would keep as null. */
function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(isJson);
}
