import { limits } from '../../crds/limits.ts';
import type { EdgeHostCapabilities } from '../../crds/schema/edge-host.ts';
import { type EdgeChunk, edgeLimits, type EdgeOutcome, keptFacts } from '../../lib/edge/index.ts';
import { defined } from '../../lib/defined.ts';
import { AppError } from '../../lib/errors.ts';
import type { Any } from '../../proto/generated/google/protobuf/any.ts';
import type { Duration } from '../../proto/generated/google/protobuf/duration.ts';
import type { Chunk, EdgeCapabilities, EdgeResult } from '../../proto/generated/windlass/node/v1/node.ts';
import type { Payload } from './payload.ts';

const cut = (text: string): string => text.slice(0, edgeLimits.messageLength);

/** The longest that protobuf's Duration may be. A number of more than 2^53 would be none for a client in another language. */
const durationMostMs = 315_576_000_000_000;

const millis = ({ seconds, nanos }: Duration = { seconds: 0n, nanos: 0 }): number =>
  Math.min(durationMostMs, Math.max(0, Number(seconds) * 1_000 + Math.floor(nanos / 1_000_000)));

/** The result of a daemon as it is kept. */
export async function outcomeOf(
  outcome: NonNullable<EdgeResult['outcome']>,
  read: (payload: Any) => Promise<Payload>,
): Promise<EdgeOutcome> {
  switch (outcome.$case) {
    case 'ok': {
      const { exitCode, duration, payload } = outcome.value;
      const own = { outcome: 'ok', exit_code: exitCode, duration_ms: millis(duration) } as const;
      return payload === undefined ? own : withPayload(own, await read(payload));
    }
    case 'err': {
      const { code, message, exitCode } = outcome.value;
      return { outcome: 'err', code: cut(code), message: cut(message), exit_code: exitCode };
    }
    case 'timedOut':
      return { outcome: 'timed_out', deadline_ms: millis(outcome.value.deadline) };
    case 'cancelled':
      return { outcome: 'cancelled', reason: cut(outcome.value.reason) };
  }
}

type Ok = Extract<EdgeOutcome, { readonly outcome: 'ok' }>;

/** A payload that cannot be kept makes the result an error: it would be reported as something that it was not. */
const withPayload = (own: Ok, payload: Payload): EdgeOutcome =>
  'problem' in payload
    ? { outcome: 'err', code: 'PayloadInvalid', message: payload.problem, exit_code: own.exit_code }
    : { ...own, payload: payload.kept };

export function chunkOf(kind: NonNullable<Chunk['kind']>): EdgeChunk {
  if (kind.$case === 'status') return { state: cut(kind.value.state), message: cut(kind.value.message) };
  // One byte more than is ever passed on shows that there was more.
  const { buffer, byteOffset, length } = kind.value.subarray(0, edgeLimits.progressBytes + 1);
  return { stream: kind.$case, data: Buffer.from(buffer, byteOffset, length).toString('base64') };
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
