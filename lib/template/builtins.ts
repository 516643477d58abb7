import type { HelperName } from '../../crds/reserved-names.ts';
import { prices } from '../work/limits.ts';
import { Missing, type Reader } from './reader.ts';
import { jsonOf, textOf } from './text-of.ts';

type Builtin = (args: readonly unknown[], reader: Reader) => unknown;

/** The helpers of spec 1 §2.6. A missing argument stays missing, so that its placeholder is what prints. */
export const builtins: Readonly<Record<HelperName, Builtin>> = {
  length: onValue((value, reader) => lengthOf(value, reader)),
  upper: onText((text) => text.toUpperCase()),
  lower: onText((text) => text.toLowerCase()),
  trim: onText((text) => text.trim()),
  first_line: onText((text) => /^[^\r\n]*/.exec(text)?.[0] ?? ''),
  json: onValue((value, reader) => jsonOf(value, reader, 2)),
  // Present and non-empty: 0 and false are values like any other (requirements AMB-074).
  default: ([value, fallback]) => (isAbsent(value) || value === '' ? fallback : value),
};

function onValue(compute: (value: unknown, reader: Reader) => unknown): Builtin {
  return ([value], reader) => (value instanceof Missing ? value : compute(value, reader));
}

function onText(compute: (text: string) => string): Builtin {
  return onValue((value, reader) => {
    const text = textOf(value, reader);
    reader.work.spend(text.length * prices.changedCharacter);
    return compute(text);
  });
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined || value instanceof Missing;
}

/** Items of a list, keys of an object, code points of the text of anything else (requirements AMB-156). */
function lengthOf(value: unknown, reader: Reader): number {
  if (Array.isArray(value)) return value.length;
  if (typeof value === 'object' && value !== null) {
    const { length } = Object.keys(value);
    reader.work.spend(length * prices.segment);
    return length;
  }
  const text = textOf(value, reader);
  reader.work.spend(text.length * prices.character);
  let pairs = 0;
  for (let index = 1; index < text.length; index++) {
    if (isLow(text.charCodeAt(index)) && isHigh(text.charCodeAt(index - 1))) pairs++;
  }
  return text.length - pairs;
}

const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isLow = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;
