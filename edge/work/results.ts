import { Struct } from '../../proto/generated/google/protobuf/struct.ts';
import type { Any } from '../../proto/generated/google/protobuf/any.ts';
import type { EdgeResult } from '../../proto/generated/windlass/node/v1/node.ts';
import { cutMiddle } from '../../lib/cut-text.ts';
import { durationOf, edgeLimits } from '../../lib/edge/index.ts';
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

/** A command whose result is no longer readable on the disk. */
export const unreadableResult: EdgeResult = errResult({
  code: 'OutcomeUnknown',
  message: "the command ended, and its result in the daemon's journal cannot be read; the daemon's log names the file",
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
  const { payloadBytes, payloadJsonBytes } = edgeLimits;
  if (whole.value.byteLength <= payloadBytes && Buffer.byteLength(JSON.stringify(fields)) <= payloadJsonBytes) {
    return whole;
  }
  const texts = Math.max(1, Object.values(fields).filter((value) => typeof value === 'string').length);
  const share = (bytes: number): number => Math.floor((bytes - frameBytes) / texts);
  const most = { bytes: share(payloadBytes), jsonBytes: share(payloadJsonBytes) };
  const cut = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? lastOf(value, most) : value,
  ]);
  return pack({ ...Object.fromEntries(cut), truncated: true });
}

const frameBytes = 1_024;

function fieldsOf(tool: string, content: string): Readonly<Record<string, unknown>> {
  if (tool !== 'host.info') return { content };
  const facts: unknown = JSON.parse(content);
  return isJsonObject(facts) ? facts : { content };
}

interface TextLimits {
  /** In UTF-8. */
  readonly bytes: number;
  /** In UTF-8, after JSON has escaped what it escapes. */
  readonly jsonBytes: number;
}

/** The end of a text within both limits; it begins with a whole character. */
function lastOf(text: string, { bytes, jsonBytes }: TextLimits): string {
  let from = text.length;
  let used = 0;
  let usedInJson = 0;
  while (from > 0) {
    const isPair = from > 1 && isLowSurrogate(text.charCodeAt(from - 1)) && isHighSurrogate(text.charCodeAt(from - 2));
    const character = text.slice(isPair ? from - 2 : from - 1, from);
    used += Buffer.byteLength(character);
    usedInJson += Buffer.byteLength(JSON.stringify(character)) - quotes;
    if (used > bytes || usedInJson > jsonBytes) break;
    from -= character.length;
  }
  return text.slice(from);
}

const quotes = 2;
const isHighSurrogate = (unit: number): boolean => unit >= 0xd8_00 && unit <= 0xdb_ff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc_00 && unit <= 0xdf_ff;

const pack = (fields: Readonly<Record<string, unknown>>): Any => ({
  typeUrl: 'type.googleapis.com/google.protobuf.Struct',
  value: Struct.encode(Struct.wrap({ ...fields })).finish(),
});
