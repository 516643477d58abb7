import { limits } from '../../crds/limits.ts';
import type { EdgeHostCapabilities } from '../../crds/schema/edge-host.ts';
import { type EdgeChunk, edgeLimits, type EdgeOutcome, keptFacts } from '../../lib/edge/index.ts';
import { defined } from '../../lib/defined.ts';
import { AppError } from '../../lib/errors.ts';
import { isTooDeep } from '../../lib/nesting.ts';
import type { Any } from '../../proto/generated/google/protobuf/any.ts';
import type { Duration } from '../../proto/generated/google/protobuf/duration.ts';
import { Struct } from '../../proto/generated/google/protobuf/struct.ts';
import type { Chunk, EdgeCapabilities, EdgeResult } from '../../proto/generated/windlass/node/v1/node.ts';

const cut = (text: string): string => text.slice(0, edgeLimits.messageLength);

/** The longest that protobuf's Duration may be. A number of more than 2^53 would be none for a client in another language. */
const durationMostMs = 315_576_000_000_000;

const millis = ({ seconds, nanos }: Duration = { seconds: 0n, nanos: 0 }): number =>
  Math.min(durationMostMs, Math.max(0, Number(seconds) * 1_000 + Math.floor(nanos / 1_000_000)));

/** The result of a daemon as it is kept; undefined where it names no outcome. */
export function outcomeOf(result: EdgeResult | undefined): EdgeOutcome | undefined {
  const outcome = result?.outcome;
  switch (outcome?.$case) {
    case 'ok': {
      const { exitCode, duration, payload } = outcome.value;
      const own = { outcome: 'ok', exit_code: exitCode, duration_ms: millis(duration) } as const;
      return payload === undefined ? own : withPayload(own, payload);
    }
    case 'err': {
      const { code, message, exitCode } = outcome.value;
      return { outcome: 'err', code: cut(code), message: cut(message), exit_code: exitCode };
    }
    case 'timedOut':
      return { outcome: 'timed_out', deadline_ms: millis(outcome.value.deadline) };
    case 'cancelled':
      return { outcome: 'cancelled', reason: cut(outcome.value.reason) };
    case undefined:
      return undefined;
  }
}

/** A payload that cannot be kept makes the result an error: it would be reported as something that it was not. */
function withPayload(own: Extract<EdgeOutcome, { readonly outcome: 'ok' }>, { typeUrl, value }: Any): EdgeOutcome {
  const failed = (message: string): EdgeOutcome => ({
    outcome: 'err',
    code: 'PayloadInvalid',
    message,
    exit_code: own.exit_code,
  });
  if (!typeUrl.endsWith('/google.protobuf.Struct')) return failed('the payload is no google.protobuf.Struct');
  if (value.length > edgeLimits.payloadBytes)
    return failed(`the payload has more than ${edgeLimits.payloadBytes} bytes`);
  try {
    const payload: unknown = Struct.unwrap(Struct.decode(value));
    if (isTooDeep(payload)) return failed('the payload is nested too deep');
    if (!isJson(payload)) return failed('the payload has a number that JSON does not have: NaN or an infinite one');
    const size = Buffer.byteLength(JSON.stringify(payload));
    if (size > edgeLimits.payloadJsonBytes)
      return failed(`the payload as JSON has ${size} bytes; at most ${edgeLimits.payloadJsonBytes} are kept`);
    return { ...own, payload };
  } catch {
    return failed('the payload cannot be read');
  }
}

/** Whether each number is finite; a `Struct` may hold others, which JSON would keep as null. */
function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(isJson);
}

/** Undefined for a chunk without content. */
export function chunkOf(chunk: Chunk | undefined): EdgeChunk | undefined {
  const kind = chunk?.kind;
  if (kind === undefined) return undefined;
  if (kind.$case === 'status') return { state: cut(kind.value.state), message: cut(kind.value.message) };
  return { stream: kind.$case, data: Buffer.from(kind.value).toString('base64') };
}

/**
 * Every process keeps the tools and labels of every host, so their sum is bounded: what has no room is left out, and counted. A host
 * that a former version took would be lost otherwise.
 * @throws AppError `invalid` that names the field which is too much.
 */
export function capabilitiesOf(capabilities: EdgeCapabilities | undefined): EdgeHostCapabilities {
  const { os = '', arch = '', localTools = [], mountPoints = [], customLabels = {} } = capabilities ?? {};
  const { nameLength, labels } = edgeLimits;
  assertTexts('capabilities.os', [os], { count: 1, length: 63 });
  assertTexts('capabilities.arch', [arch], { count: 1, length: 63 });
  assertTexts('capabilities.local_tools', localTools, { count: edgeLimits.localTools, length: nameLength });
  assertTexts('capabilities.mount_points', mountPoints, { count: edgeLimits.mountPoints, length: 1_024 });
  assertTexts('capabilities.custom_labels', Object.keys(customLabels), { count: labels, length: nameLength });
  assertNames('capabilities.local_tools', localTools);
  assertNames('capabilities.custom_labels', Object.keys(customLabels));
  assertTexts('capabilities.custom_labels', Object.values(customLabels), { count: labels, length: 256 });
  const { leftOut, ...kept } = keptFacts(localTools, customLabels);
  const most = commandTimeoutOf(capabilities?.commandTimeout);
  const taken = defined({
    os,
    arch,
    ...kept,
    mount_points: mountPoints,
    command_timeout_secs: most,
    facts_left_out: leftOut === 0 ? undefined : leftOut,
  });
  const size = Buffer.byteLength(JSON.stringify(taken));
  if (size > edgeLimits.capabilitiesBytes) {
    throw new AppError('invalid', `capabilities have ${size} bytes as JSON; at most ${edgeLimits.capabilitiesBytes}`);
  }
  return taken;
}

function commandTimeoutOf(given: Duration | undefined): number | undefined {
  if (given === undefined) return undefined;
  const seconds = millis(given) / 1_000;
  const most = limits.fleetDeadlineSecsMax;
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= most) return seconds;
  throw new AppError('invalid', `capabilities.command_timeout must be whole seconds from 1 to ${most}`);
}

function assertNames(field: string, names: readonly string[]): void {
  if (names.includes('')) throw new AppError('invalid', `${field} has an empty name; leave it out`);
}

function assertTexts(
  field: string,
  texts: readonly string[],
  { count, length }: { readonly count: number; readonly length: number },
): void {
  if (texts.length > count) throw new AppError('invalid', `${field} has more than ${count} entries`);
  if (texts.some((text) => text.length > length)) {
    throw new AppError('invalid', `${field} has a text of more than ${length} characters`);
  }
}
