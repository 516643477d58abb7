import { type DestinationStream, pino, stdSerializers, stdTimeFunctions } from 'pino';

/** Facts of a log line. An error goes under `err`. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Writes one line. The message is a constant lower-case phrase; whatever varies is a field. */
export type LogLine = (fields: LogFields, message: string) => void;

/** `info`: something changed; `debug`: routine; `warn`: it goes on without; `error`: a human must look. */
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

export interface LoggerOptions {
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
  const paths = redactedFields.flatMap((field) => [field, `*.${field}`]);
  const settings = {
    level: options.level,
    base: { service: options.service },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: stdSerializers.errWithCause },
    redact: { paths, censor: '[redacted]' },
  };
  return options.destination === undefined ? pino(settings) : pino(settings, options.destination);
}

/** A logger that writes nothing. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
