import {
  type DestinationStream,
  type Level,
  type Logger as PinoLogger,
  pino,
  stdSerializers,
  stdTimeFunctions,
} from 'pino';

/** Facts of a log line. An error is under `err`. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Writes one line. The message is a constant lower-case phrase; whatever varies is a field. */
type LogLine = (fields: LogFields, message: string) => void;

/**
 * `info`: something changed; `debug`: routine; `warn`: the process continues without it; `error`: a human must look.
 */
export interface Logger {
  readonly debug: LogLine;
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
  /** The same logger with these fields on every line. */
  child(fields: LogFields): Logger;
}

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

interface LoggerOptions {
  readonly level: LogLevel;
  /** Which process writes, such as `controllers`. */
  readonly service: string;
  /** Default: standard output. */
  readonly destination?: DestinationStream;
}

/** Fields whose value never reaches a log, at the top of a line or one level down. The only such list. */
export const redactedFields = [
  'authorization',
  'password',
  'secret',
  'token',
  'security_token',
  'signature',
  'private_key',
  'api_key',
  'credentials',
  'registry_credentials',
  'prompt',
  'arguments',
  'input',
  'blackboard',
  'env',
  'stdin',
  'stdout',
  'stderr',
  'headers',
  'data',
  'stringData',
] as const;

/** One JSON object a line, with `time` in RFC 3339, `level` as a word and `msg`. */
export function createLogger(options: LoggerOptions): Logger {
  const settings = {
    level: options.level,
    base: { service: options.service },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: (error: Error) => hideSecrets({ ...stdSerializers.errWithCause(error) }) },
  };
  return withFields(options.destination === undefined ? pino(settings) : pino(settings, options.destination), {});
}

/** A child is no more than its fields: one is made for each request, and most of them write nothing. */
function withFields(writer: PinoLogger, fixed: LogFields): Logger {
  const line =
    (level: Level): LogLine =>
    (fields, message) => {
      if (writer.isLevelEnabled(level)) writer[level](hideSecrets({ ...fixed, ...fields }), message);
    };
  return {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    child: (fields) => withFields(writer, { ...fixed, ...fields }),
  };
}

const redacted: ReadonlySet<string> = new Set(redactedFields);
const censor = '[redacted]';

/** The same fields without secrets, at the top and one level down. Cheap where there is none, which is nearly always. */
function hideSecrets(fields: Record<string, unknown>): Record<string, unknown> {
  return replaceMembers(fields, (key, value) => {
    if (redacted.has(key)) return censor;
    if (typeof value !== 'object' || value === null || value instanceof Error) return value;
    return replaceMembers(value as Record<string, unknown>, (inner, held) => (redacted.has(inner) ? censor : held));
  });
}

/** The object itself unless a member changes. */
function replaceMembers(
  fields: Record<string, unknown>,
  replace: (key: string, value: unknown) => unknown,
): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    const replaced = replace(key, value);
    if (replaced === value) continue;
    copy ??= { ...fields };
    copy[key] = replaced;
  }
  return copy ?? fields;
}
