import { limits } from '../../crds/limits.ts';
import { answerText, type EdgeOutcome } from '../edge/index.ts';
import type { NodeOutcome } from './plan.ts';

/** The entry of one host in the history of a run (spec 2 §2.4). */
export interface NodeRecord {
  readonly node_id: string;
  readonly command_id: string;
  readonly outcome: NodeOutcome;
  readonly exit_code: number | null;
  readonly duration_ms: number | null;
  /** The deadline that was over, of a host that is timed_out. */
  readonly deadline_ms?: number;
  readonly stdout_tail: string;
  readonly stderr_tail: string;
  /** When the command left, where that is known. RFC 3339. */
  readonly dispatched_at?: string;
  /** Why it is err, timed_out or cancelled. */
  readonly code?: string;
  readonly message?: string;
}

export interface Tails {
  readonly stdout: string;
  readonly stderr: string;
}

/** requirements AMB-115: the end of a text, at most so many bytes of UTF-8, beginning with a whole character. */
export function tailOf(text: string, bytes: number = limits.fleetTailBytes): string {
  if (bytes <= 0) return '';
  const encoded = Buffer.from(text.length <= bytes ? text : text.slice(-bytes));
  if (text.length <= bytes && encoded.length <= bytes) return text;
  // A part of a text would keep the whole of it in memory.
  let start = Math.max(0, encoded.length - bytes);
  while (((encoded[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return encoded.subarray(start).toString('utf8');
}

interface Ended {
  readonly nodeId: string;
  readonly commandId: string;
  readonly result: EdgeOutcome;
  readonly tails: Tails | undefined;
  /** Milliseconds since the epoch: when the command left, where that is known, and when its result was stored. */
  readonly sentAt: number | undefined;
  readonly endedAt: number;
}

export function nodeRecord({ nodeId, commandId, result, tails, sentAt, endedAt }: Ended): NodeRecord {
  const took = sentAt === undefined ? null : Math.max(0, endedAt - sentAt);
  return {
    node_id: nodeId,
    command_id: commandId,
    outcome: result.outcome,
    exit_code: exitOf(result),
    duration_ms: result.outcome === 'ok' ? result.duration_ms : took,
    ...tailsOf(result, tails),
    ...(result.outcome === 'timed_out' ? { deadline_ms: result.deadline_ms } : {}),
    ...(sentAt === undefined ? {} : { dispatched_at: new Date(sentAt).toISOString() }),
    ...whyOf(result),
  };
}

/** The protocol has 0 in an error where there was no process: null, as nothing is known to have ended well. */
function exitOf(result: EdgeOutcome): number | null {
  if (result.outcome === 'ok') return result.exit_code;
  return result.outcome === 'err' && result.exit_code !== 0 ? result.exit_code : null;
}

/** Live output of the command is bounded; its answer has all of it. An answer that is no output follows the output. */
function tailsOf(result: EdgeOutcome, tails: Tails = { stdout: '', stderr: '' }) {
  const payload = 'payload' in result ? result.payload : undefined;
  const { stdout, stderr } = { ...tails, ...outputOf(payload) };
  return { stdout_tail: tailOf(`${stdout}${answerText(payload)}`), stderr_tail: tailOf(stderr) };
}

function outputOf(payload: unknown): { readonly stdout?: string; readonly stderr?: string } {
  if (typeof payload !== 'object' || payload === null) return {};
  const { stdout, stderr } = payload as { readonly stdout?: unknown; readonly stderr?: unknown };
  return {
    ...(typeof stdout === 'string' ? { stdout } : {}),
    ...(typeof stderr === 'string' ? { stderr } : {}),
  };
}

/** Bytes of a code and of a message of a host that a record keeps. */
const codeBytes = 128;
const messageBytes = 1_024;

function whyOf(result: EdgeOutcome): Pick<NodeRecord, 'code' | 'message'> {
  switch (result.outcome) {
    case 'ok':
      return {};
    case 'err':
      return { code: tailOf(result.code, codeBytes), message: tailOf(result.message, messageBytes) };
    case 'timed_out':
      return { message: `no result within ${result.deadline_ms / 1_000} s` };
    case 'cancelled':
      return { message: tailOf(result.reason, messageBytes) };
  }
}

/** The record of a host that was never sent the command. */
export const notStarted = (nodeId: string, commandId: string): NodeRecord => ({
  node_id: nodeId,
  command_id: commandId,
  outcome: 'not_started',
  exit_code: null,
  duration_ms: null,
  stdout_tail: '',
  stderr_tail: '',
});
