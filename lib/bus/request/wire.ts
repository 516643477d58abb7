import type { Msg, MsgHdrs } from '@nats-io/transport-node';
import { AppError, type ErrorCode } from '../../errors.ts';
import { busLimits } from '../limits.ts';
import { textOfToken, token } from '../subjects.ts';
import type { Address } from './requester.ts';

/** Headers of requests and answers. */
export const headerNames = { timeout: 'Windlass-Timeout-Ms', error: 'Windlass-Error' } as const;

const root = 'windlass.request';
const keyBytesMax = 512;

/** `windlass.request.<service>`, and a token of the key where there is one. */
export function requestSubject({ service, key }: Address): string {
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(service)) throw invalid(`${JSON.stringify(service)} names no service`);
  if (key === undefined) return `${root}.${service}`;
  if (Buffer.byteLength(key) > keyBytesMax || !key.isWellFormed()) {
    throw invalid(`the key of an address is at most ${keyBytesMax} bytes of Unicode`);
  }
  return `${root}.${service}.${token(key)}`;
}

/** The subject of an address without a key also ends in the service's last word. */
export const addressKey = (address: Address, subject: string): string =>
  address.key === undefined ? '' : textOfToken(subject.slice(`${root}.${address.service}.`.length));

const invalid = (message: string): AppError => new AppError('invalid', message, { reason: 'AddressInvalid' });

export const tooLarge = (what: string, bytes: number): AppError =>
  new AppError('limit_exceeded', `${what} has ${bytes} bytes; ${busLimits.requestBytes} are the most`, {
    reason: 'RequestTooLarge',
  });

/** How long the caller waits for the answer, by the word of the request, within our own bound. */
export function timeoutOf(headers: MsgHdrs | undefined): number {
  const ms = Number(headers?.get(headerNames.timeout) ?? Number.NaN);
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, busLimits.requestMaxMs) : busLimits.requestMaxMs;
}

/** The wire form of an error; one that is no AppError is bland, as at every edge. */
export function errorText(error: unknown): string {
  if (!(error instanceof AppError))
    return JSON.stringify({ code: 'internal', reason: 'Error', message: 'internal error' });
  return JSON.stringify({ code: error.code, reason: error.reason, message: error.message.slice(0, messageMax) });
}

const messageMax = 1_000;

/** The error that an answer holds, or undefined for a good one. */
export function errorOf(answer: Pick<Msg, 'headers' | 'string'>): AppError | undefined {
  if (answer.headers?.has(headerNames.error) !== true) return undefined;
  const { code, reason, message } = parse(answer.string());
  return new AppError(isCode(code) ? code : 'internal', typeof message === 'string' ? message : 'internal error', {
    reason: typeof reason === 'string' ? reason : 'Error',
  });
}

function parse(text: string): { readonly [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** A new code fails to compile until it is here. */
const codes: Readonly<Record<ErrorCode, true>> = {
  invalid: true,
  unauthenticated: true,
  forbidden: true,
  not_found: true,
  already_exists: true,
  conflict: true,
  gone: true,
  limit_exceeded: true,
  timeout: true,
  unavailable: true,
  cancelled: true,
  terminal: true,
  wait: true,
  lost_leadership: true,
  internal: true,
};

const isCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(codes, code);
