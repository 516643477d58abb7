import { request } from 'undici';
import type { Clock } from '../../../lib/clock.ts';
import { startDeadline } from '../../../lib/deadline.ts';
import { signEnvelope } from '../../../lib/envelope/index.ts';
import { AppError, messageOf } from '../../../lib/errors.ts';
import type { NewId } from '../../../lib/ids.ts';
import { isJsonObject } from '../../../lib/json-object.ts';
import type { Logger } from '../../../lib/logger.ts';
import { bytesOf } from '../../../lib/memory-budget/index.ts';
import type { ToolAnswer, ToolArguments } from '../../../lib/tools/tool.ts';
import {
  type AnswerRoom,
  largestAnswerPart,
  longestCallMs as callMs,
  memoryOf,
} from '../../../lib/tools/web/answer-room.ts';
import { unpackedBody } from '../../../lib/tools/web/read-response.ts';
import type { CallRegistered, RegisteredCaller } from './registered-tools.ts';
import type { ToolSession, ToolSessions } from './tool-sessions.ts';

interface CallDeps {
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
  readonly newId: NewId;
  /** Room for large answers. The largest counts as a tenant's share of it. */
  readonly room: AnswerRoom;
  readonly sessions: ToolSessions;
  /** Base address of the gateway. */
  readonly url: string;
}

/** The body holds an answer twice, as JSON. Text and values of it may take more than the room: that has its place beside the pools. */
const answerBytes = Math.floor(bytesOf('large answers') * largestAnswerPart);

/**
 * Calls tools at `/v1/invoke` of the gateway, by envelopes that this process signs: session, checks, credentials and audit
 * are the gateway's (ADR 0084). A refusal is an answer of the tool, which its agent reads. An error that does not prove that
 * nothing ran is an unknown outcome.
 */
export function createGatewayCalls(deps: CallDeps): CallRegistered {
  // A function that waits holds what it was given: the values of arguments may take thirty times the memory of their text.
  return (caller, { tool, args }, signal) => ask(deps, caller, { tool, args: JSON.stringify(args) }, signal);
}

/** A call with its arguments as JSON. */
interface Written {
  readonly tool: string;
  readonly args: string;
}

async function ask(
  { clock, logger, newId, room, sessions, url }: CallDeps,
  caller: RegisteredCaller,
  written: Written,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const { tool } = written;
  using deadline = startDeadline(clock, callMs, signal);
  const send = (session: ToolSession): Promise<Answered> => {
    const envelope = envelopeOf(session, written, { id: newId(), now: clock.now() });
    return post(`${url}/v1/invoke`, envelope, { tenant: caller.tenant, room, signal: deadline.signal });
  };
  const session = await sessions.of(caller);
  try {
    const first = await send(session);
    if (!first.isRefused) return first;
    // Nothing has run. Another replica that drove the conversation in between has replaced the session.
    const current = await sessions.again(caller);
    return current.sessionId === session.sessionId ? first : await send(current);
  } catch (error) {
    if (error instanceof AppError) throw error;
    signal.throwIfAborted();
    logger.warn({ tool, problem: messageOf(error) }, 'call of a registered tool has an unknown outcome');
    return failed(
      'OutcomeUnknown: the tool gateway did not say how the call ended. It may have run. Look before you call again.',
    );
  }
}

interface Sent {
  readonly id: string;
  readonly now: number;
}

function envelopeOf({ executionId, token, key }: ToolSession, { tool, args }: Written, sent: Sent): string {
  const call = { executionId, token, tool, arguments: JSON.parse(args) as ToolArguments, ...sent };
  return JSON.stringify(signEnvelope(key, call));
}

interface Reading {
  readonly tenant: string;
  readonly room: AnswerRoom;
  readonly signal: AbortSignal;
}

async function post(url: string, body: string, { tenant, room, signal }: Reading): Promise<Answered> {
  const headers = { 'content-type': 'application/json' };
  const options = { method: 'POST', headers, body, signal, headersTimeout: 0, bodyTimeout: 0 } as const;
  const response = await request(url, options);
  // The gateway is ours: the length that it gives is the length that it sends.
  const length = Number(response.headers['content-length'] ?? answerBytes);
  using taken = room.of({ tenant, cost: memoryOf(Math.min(length, answerBytes)), signal });
  const bytes = await unpackedBody(response.body, '', { most: answerBytes, length, grow: taken.grow });
  return readAnswer(JSON.parse(bytes.toString()));
}

/** `isRefused`: the gateway has stopped the call before the tool. */
type Answered = ToolAnswer & { readonly isRefused: boolean };

/** The answer of the lane: a result, or an error of spec 3 §7.2. @throws Error for anything else. */
function readAnswer(body: unknown): Answered {
  if (isJsonObject(body)) {
    const { result, error } = body;
    if (isJsonObject(result) && typeof result['isError'] === 'boolean')
      return { content: textOf(result['content']), isError: result['isError'], isRefused: false };
    if (isJsonObject(error) && typeof error['message'] === 'string') return refusalOf(error, error['message']);
  }
  throw new Error('the answer of the gateway is not of its form');
}

function refusalOf({ code, data }: Readonly<Record<string, unknown>>, message: string): Answered {
  const { error: word } = isJsonObject(data) ? data : {};
  // A word in `data` comes from the tool, or from a call that had begun; the message says what was done.
  if (typeof word === 'string') return { ...failed(`${word}: ${message}`), isRefused: false };
  if (!refusedCodes.has(code)) throw new Error(`the gateway answered ${String(code)}: ${message}`);
  return { ...failed(`Refused: ${message}`), isRefused: code === sessionCode };
}

/** Sessions, signatures and policies (spec 3 §7.2). */
const sessionCode = -32_000;
/** Codes of a call that was stopped before its tool: the envelope, the session, a policy, arguments. */
const refusedCodes: ReadonlySet<unknown> = new Set([sessionCode, -32_001, -32_600, -32_602]);

function textOf(content: unknown): string {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  const texts = parts.map((part) => (isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : ''));
  return texts.join('\n');
}

const failed = (content: string): ToolAnswer => ({ content, isError: true });
