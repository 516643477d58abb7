import { AppError } from '../errors.ts';
import { mcpLimits } from './limits.ts';

/**
 * Looks at the bytes of one answer before the library has them. The library checks each message, and each member near
 * its top, with rules that cost many microseconds a value. Returns how many bytes of the message under way there are
 * now. @throws AppError `limit_exceeded`
 */
export type LookAt = (chunk: Uint8Array) => number;

/** How the library reads an answer. */
interface AnswerForm {
  /** Many messages, each read when it has come. Anything else is read as JSON, or as no messages at all. */
  readonly isStream: boolean;
  /** Header that the library gets in place of the server's, so that it reads what was bounded. */
  readonly contentType: string | undefined;
}

/** The form of an answer with this status and Content-Type. The library reads the body of an error as JSON, whatever its type. */
export function answerFormOf(status: number, contentType: string | null): AnswerForm {
  const essence = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  const isOk = status >= 200 && status < 300;
  return {
    isStream: isOk && essence === 'text/event-stream',
    contentType: essence === 'text/event-stream' || essence === 'application/json' ? essence : undefined,
  };
}

const code = {
  lineFeed: 0x0a,
  carriageReturn: 0x0d,
  quote: 0x22,
  comma: 0x2c,
  backslash: 0x5c,
  list: 0x5b,
  listEnd: 0x5d,
  object: 0x7b,
  objectEnd: 0x7d,
} as const;

/**
 * Counts values as JSON has them, wherever they are. In a stream each line begins anew: no text of JSON continues over the end
 * of one.
 */
export function answerBoundsFor({ isStream }: Pick<AnswerForm, 'isStream'>, most: number = mcpLimits.values): LookAt {
  let [values, shallow, lines, depth] = [0, 0, 0, 0];
  let [isText, isEscaped, last, bytes] = [false, false, 0, 0];
  const value = (): void => {
    values += 1;
    if (depth <= mcpLimits.shallowLevels) shallow += 1;
    if (values > most) throw tooMuch(`${most} values`);
    if (shallow > mcpLimits.shallowValues) throw tooMuch(`${mcpLimits.shallowValues} values near its top`);
  };
  const line = (byte: number): void => {
    const isNew = byte === code.carriageReturn || last !== code.carriageReturn;
    if (isNew) lines += 1;
    if (lines > mcpLimits.eventLines) throw tooMuch(`${mcpLimits.eventLines} lines of events`);
    // An empty line ends a message.
    if (isNew && (last === code.lineFeed || last === code.carriageReturn)) [shallow, bytes] = [0, 0];
    [isText, isEscaped, depth] = [false, false, 0];
  };
  const outside = (byte: number): void => {
    if (byte === code.quote) isText = true;
    else if (byte === code.object || byte === code.list) {
      // A batch is one message for each of its values.
      if (depth === 0 && byte === code.list && !isStream) throw new AppError('unavailable', 'the answer is a batch');
      depth += 1;
      value();
    } else if (byte === code.objectEnd || byte === code.listEnd) depth -= 1;
    else if (byte === code.comma) value();
  };
  return (chunk) => {
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index] ?? 0;
      bytes += 1;
      if (isStream && (byte === code.lineFeed || byte === code.carriageReturn)) line(byte);
      else if (!isText) outside(byte);
      else if (isEscaped) isEscaped = false;
      else if (byte === code.backslash) isEscaped = true;
      else if (byte === code.quote) isText = false;
      last = byte;
    }
    return bytes;
  };
}

const tooMuch = (what: string): AppError =>
  new AppError('limit_exceeded', `the server answers with more than ${what}`, { reason: 'TooLarge' });
