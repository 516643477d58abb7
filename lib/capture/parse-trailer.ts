import { parseInstant } from '../instant.ts';
import { isJsonObject } from '../json-object.ts';
import { CaptureError } from './capture-error.ts';
import type { StreamReport, Trailer } from './trailer.ts';

type Check = (value: unknown) => boolean;

const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isText: Check = (value) => typeof value === 'string';
const isOptionalText: Check = (value) => value === undefined || isText(value);
const isOptionalFlag: Check = (value) => value === undefined || typeof value === 'boolean';
const isTime: Check = (value) => typeof value === 'string' && parseInstant(value) !== undefined;

const streamChecks: Readonly<Record<keyof StreamReport, Check>> = {
  bytes: isCount,
  total_bytes: isCount,
  sha256: (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
  truncated: (value) => typeof value === 'boolean',
};

const isStreamReport: Check = (value) => isJsonObject(value) && firstWrong(value, streamChecks) === undefined;

const trailerChecks: Readonly<Record<keyof Trailer, Check>> = {
  v: (value) => value === 1,
  exit_code: (value) => isCount(value) && Number(value) <= 255,
  signal: isOptionalText,
  reason: isOptionalText,
  error: isOptionalText,
  oom_killed: isOptionalFlag,
  started_at: isTime,
  finished_at: isTime,
  duration_ms: isCount,
  stdout: isStreamReport,
  stderr: isStreamReport,
};

function firstWrong(value: Record<string, unknown>, checks: Readonly<Record<string, Check>>): string | undefined {
  return Object.entries(checks).find(([key, check]) => !check(value[key]))?.[0];
}

/** Reads the JSON of a trailer. Fields it does not know are left out. Throws CaptureError `MalformedTrailer`. */
export function parseTrailer(json: string): Trailer {
  const value = parseJson(json);
  if (!isJsonObject(value)) throw new CaptureError('MalformedTrailer', 'the trailer is not a JSON object');
  const wrong = firstWrong(value, trailerChecks);
  if (wrong !== undefined)
    throw new CaptureError('MalformedTrailer', `the trailer's field ${wrong} is missing or wrong`);
  const known = Object.keys(trailerChecks).filter((key) => value[key] !== undefined);
  return Object.fromEntries(known.map((key) => [key, value[key]])) as unknown as Trailer;
}

/**
 * Reads a container's termination message, which holds the same JSON as the trailer and is written before it. Throws
 * CaptureError: `TrailerMissing` for an empty message (the runner was killed), else `MalformedTrailer`.
 */
export function parseTerminationMessage(message: string): Trailer {
  if (message.trim() === '') throw new CaptureError('TrailerMissing', 'the termination message is empty');
  return parseTrailer(message);
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new CaptureError('MalformedTrailer', 'the trailer is not JSON');
  }
}
