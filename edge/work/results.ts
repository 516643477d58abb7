import { Struct } from '../../proto/generated/google/protobuf/struct.ts';
import type { Any } from '../../proto/generated/google/protobuf/any.ts';
import type { Duration } from '../../proto/generated/google/protobuf/duration.ts';
import type { EdgeResult } from '../../proto/generated/windlass/node/v1/node.ts';
import { cutMiddle } from '../../lib/cut-text.ts';
import { edgeLimits } from '../../lib/edge/index.ts';
import { isJsonObject } from '../../lib/json-object.ts';
import type { HostAnswer } from '../tools/host-tools.ts';

/** Why a command was not run, or failed: a PascalCase word and a sentence. */
export interface CommandProblem {
  readonly code: string;
  readonly message: string;
}

export const errResult = ({ code, message }: CommandProblem, exitCode = 0): EdgeResult => ({
  outcome: {
    $case: 'err',
    value: { code: code.slice(0, 128), message: cutMiddle(message, edgeLimits.messageLength / 4), exitCode },
  },
});

export const timedOutResult = (ms: number): EdgeResult => ({
  outcome: { $case: 'timedOut', value: { deadline: durationOf(ms) } },
});

export const cancelledResult = (reason: string): EdgeResult => ({
  outcome: { $case: 'cancelled', value: { reason: cutMiddle(reason, edgeLimits.messageLength / 4) } },
});

/** A command of an earlier process of the daemon that was not seen to end (requirements AMB-200). */
export const unknownResult: EdgeResult = errResult({
  code: 'OutcomeUnknown',
  message: 'the daemon ended while the command ran; it may have run in part, and it is not run again',
});

/** The result of a tool that ended by itself: another exit code than 0 is still an answer (spec 3 §10.5, AMB-104). */
export function resultOf(tool: string, given: HostAnswer, ms: number): EdgeResult {
  if (given.isError) return errResult(problemOf(given.content), given.exitCode);
  const { exitCode } = given;
  return { outcome: { $case: 'ok', value: { exitCode, payload: payloadOf(tool, given), duration: durationOf(ms) } } };
}

/** Errors of tools are texts such as `NOT_FOUND: …` (requirements AMB-130). */
function problemOf(content: string): CommandProblem {
  const [, code, message] = /^([A-Za-z_]{1,64}): ([^]*)$/.exec(content) ?? [];
  return { code: code ?? 'ToolFailed', message: message ?? content };
}

/** The answer of the tool, cut to the size of a message; `truncated` says that it was. */
function payloadOf(tool: string, { content, output, exitCode }: HostAnswer): Any {
  const fields = output === undefined ? fieldsOf(tool, content) : { ...output, exit_code: exitCode };
  const whole = pack(fields);
  if (whole.value.byteLength <= edgeLimits.payloadBytes) return whole;
  const texts = Object.values(fields).filter((value) => typeof value === 'string').length;
  const most = Math.floor((edgeLimits.payloadBytes - frameBytes) / Math.max(1, texts));
  const cut = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? lastBytes(value, most) : value,
  ]);
  return pack({ ...Object.fromEntries(cut), truncated: true });
}

const frameBytes = 1_024;

function fieldsOf(tool: string, content: string): Readonly<Record<string, unknown>> {
  if (tool !== 'host.info') return { content };
  const facts: unknown = JSON.parse(content);
  return isJsonObject(facts) ? facts : { content };
}

/** The end of a text, which begins with a whole character. */
function lastBytes(text: string, most: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= most) return text;
  let from = bytes.length - most;
  while (from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return bytes.subarray(from).toString('utf8');
}

const pack = (fields: Readonly<Record<string, unknown>>): Any => ({
  typeUrl: 'type.googleapis.com/google.protobuf.Struct',
  value: Struct.encode(Struct.wrap({ ...fields })).finish(),
});

export const durationOf = (ms: number): Duration => ({
  seconds: BigInt(Math.floor(ms / 1_000)),
  nanos: Math.floor((ms % 1_000) * 1e6),
});

/** Undefined for one that is absent, negative or beyond what a clock counts. */
export function millisecondsOf(duration: Duration | undefined): number | undefined {
  if (duration === undefined) return undefined;
  const ms = Number(duration.seconds) * 1_000 + Math.floor(duration.nanos / 1e6);
  return Number.isSafeInteger(ms) && ms >= 0 ? ms : undefined;
}
