import { tooCostly } from './json-cost.ts';
import { HttpError, type RequestProblem } from './http-error.ts';

/** The request is not of the documented form; `details` names what and where. */
export const invalidRequest = (message: string, details?: readonly RequestProblem[]): HttpError =>
  new HttpError({ code: 'invalid', message, details });

/** One field of the request is not valid; the message says what it is, and what to do about it. */
export const invalidField = (path: string, message: string): HttpError =>
  invalidRequest(`${path} ${message}`, [{ path, message }]);

export const payloadTooLarge = (maxBytes: number, what = 'the body'): HttpError =>
  new HttpError({
    code: 'invalid',
    status: 413,
    error: 'payload_too_large',
    message: `${what} is larger than ${maxBytes} bytes`,
  });

/** The body is short enough, and holds more objects, lists and fields than are kept of it in memory. */
export const payloadTooCostly = (): HttpError =>
  new HttpError({ code: 'invalid', status: 413, error: 'payload_too_large', message: `the body ${tooCostly}` });

/** Other large bodies are being read; this one would be fine without them. */
export const tooManyBodies = (): HttpError =>
  new HttpError({ code: 'unavailable', message: 'too many large bodies are being read; try again' });

/** The caller's tenant has not taken other large answers yet, or many large answers are under way. */
export const tooManyAnswers = (): HttpError =>
  new HttpError({ code: 'unavailable', message: 'too many large answers are under way; read them, and try again' });

/** The calls of one tenant that are under way have its share of memory. */
export const tenantShareUsed = (shareBytes: number, hasRun: boolean): HttpError => {
  const most = `large bodies and answers of the signed calls of one tenant have at most ${shareBytes} bytes in a replica`;
  const remedy = hasRun ? 'the call has run, and its answer is lost' : 'nothing has run';
  const message = `${most}; ${remedy}. Let calls end, and read their answers`;
  return new HttpError({ code: 'limit_exceeded', status: 429, message });
};

/** Each open stream takes memory for as long as it lasts. */
export const tooManyStreams = (): HttpError =>
  new HttpError({ code: 'unavailable', message: 'too many streams are open; close some, or try again later' });

export const unsupportedMediaType = (message: string): HttpError =>
  new HttpError({ code: 'invalid', status: 415, error: 'unsupported_media_type', message });

/** No client is left to read this. */
export const clientGone = (): HttpError => new HttpError({ code: 'cancelled', message: 'the client is gone' });
