import type { Json } from '../crds/schema/parts.ts';
import { CliError } from './exit-codes.ts';

const integer = /^-?\d+$/;

/**
 * Turns `KEY=VALUE` arguments of one flag into an object. A value that is JSON is taken as JSON, anything else is a
 * string: `n=3` is a number, `n='"3"'` and `n=03` are strings. An integer too large for a number stays a string, so
 * that no digit is lost. Keys are taken literally, dots included. Throws a usage error for a pair without `=`, an
 * empty key and a key given twice.
 */
export function parsePairs(pairs: readonly string[], flag: string): Record<string, Json> {
  const entries = new Map<string, Json>();
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    if (equals < 1) {
      const key = equals < 0 && pair !== '' ? pair : 'key';
      throw new CliError('usage', `${flag} '${pair}' is not KEY=VALUE`, `Write it as ${flag} ${key}=value.`);
    }
    const key = pair.slice(0, equals);
    if (entries.has(key)) throw new CliError('usage', `${flag} gives the key '${key}' twice`, 'Keep one of them.');
    entries.set(key, parseValue(pair.slice(equals + 1)));
  }
  return Object.fromEntries(entries);
}

/** JSON where it is JSON, else the text itself. */
export function parseValue(text: string): Json {
  if (integer.test(text) && !Number.isSafeInteger(Number(text))) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
