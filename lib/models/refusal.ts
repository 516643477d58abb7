import { cutText } from '../cut-text.ts';
import { isJsonObject } from '../json-object.ts';
import { isTooDeep } from '../nesting.ts';
import type { Secret } from '../node-config/secret.ts';
import { AttemptError, type AttemptOutcome } from './attempt-error.ts';
import { modelLimits } from './limits.ts';

/** How providers say that a conversation is larger than the window of the model. */
const contextPattern =
  /context[_ -]?(length|window|size)|maximum context|prompt is too long|input is too long|too many (input )?tokens|request_too_large/i;

/** The answer of a provider in place of a stream. */
interface RefusedRequest {
  readonly status: number;
  readonly body: string;
  readonly headers: Headers;
}

/** An answer with a status that is no success, as a failure. `now` is for a `Retry-After` that is a date. */
export function refusedAttempt(refusal: RefusedRequest, now: number, key: Secret | undefined): AttemptError {
  const { status, body, headers } = refusal;
  const outcome = outcomeOf(status, body);
  return new AttemptError(outcome, `${words[outcome]} with ${status}${shown(refusal, key)}`, retryAfter(headers, now));
}

type RefusalOutcome = Extract<AttemptOutcome, 'rate_limited' | 'unavailable' | 'refused' | 'context_too_long'>;

const words: Readonly<Record<RefusalOutcome, string>> = {
  rate_limited: 'limits our requests',
  unavailable: 'failed',
  refused: 'refused the request',
  context_too_long: 'finds the conversation too long',
};

function outcomeOf(status: number, body: string): RefusalOutcome {
  if (status === 429) return 'rate_limited';
  if (status === 413 || (status >= 400 && contextPattern.test(body))) return 'context_too_long';
  return status >= 500 ? 'unavailable' : 'refused';
}

/** The words of the provider. Those about a key are left out: some quote it. */
function shown({ status, body }: RefusedRequest, key: Secret | undefined): string {
  const isAboutKey = status === 401 || status === 403;
  return isAboutKey ? ': check its api_key' : quoted(messageIn(body), key);
}

function quoted(text: string, key: Secret | undefined): string {
  const plain = text.replaceAll(/\s+/g, ' ').trim();
  const safe = key === undefined ? plain : plain.replaceAll(key.reveal(), '[secret]');
  return safe === '' ? '' : `: ${cutText(safe, modelLimits.refusalShown)}`;
}

/** `{"error": {"message": …}}` and `{"error": …}` are common to all three protocols; a page of a proxy is not shown. */
function messageIn(body: string): string {
  try {
    return messageOfError(JSON.parse(body));
  } catch {
    return '';
  }
}

function messageOfError(value: unknown): string {
  if (!isJsonObject(value)) return '';
  const { error = value } = value;
  if (typeof error === 'string') return error;
  return isJsonObject(error) && typeof error.message === 'string' ? error.message : '';
}

/** An error that a stream brings after it has begun, by its JSON text. One that is nested too deep has none. */
export function errorInStream(value: unknown, key: Secret | undefined): AttemptError {
  const text = isTooDeep(value) ? '' : (JSON.stringify(value) ?? '');
  const outcome = outcomeInStream(text);
  return new AttemptError(outcome, `${words[outcome]} within its answer${quoted(messageOfError(value), key)}`);
}

function outcomeInStream(text: string): RefusalOutcome {
  if (contextPattern.test(text)) return 'context_too_long';
  if (/rate_limit/i.test(text)) return 'rate_limited';
  return /invalid_request|authentication|permission|not_found|billing/i.test(text) ? 'refused' : 'unavailable';
}

/** Milliseconds of `Retry-After-Ms` or `Retry-After`, which is a number of seconds or a date; at most our own bound. */
export function retryAfter(headers: Headers, now: number): number | undefined {
  const ms = headers.get('retry-after-ms');
  const after = headers.get('retry-after');
  const wanted = decimal(ms) ?? seconds(after) ?? dateIn(after, now);
  return wanted === undefined ? undefined : Math.min(Math.max(wanted, 0), modelLimits.retryWaitMs);
}

const decimal = (text: string | null): number | undefined =>
  text !== null && /^\d{1,12}(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined;

function seconds(text: string | null): number | undefined {
  const value = decimal(text);
  return value === undefined ? undefined : value * 1_000;
}

function dateIn(text: string | null, now: number): number | undefined {
  const at = text !== null && /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : at - now;
}
