import { expect, it } from 'vitest';
import { boundariesOf } from '../../lib/tools/path-rules.ts';
import { placeOf } from '../../lib/tools/volume-policy.ts';
import { aToolCaller } from '../builders/tool-caller.ts';
import { restedMsOf, turnMs } from './support/turns.ts';

const deep = '/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t';
const mounts = Array.from({ length: 20 }, (_, at) => ({
  volume: 'v',
  path: deep
    .split('/')
    .slice(0, at + 2)
    .join('/'),
  writable: true,
}));

/** So many rules of the longest form, made from their number and a padding. */
const rulesOf = (count: number, length: number, form: (at: number, padding: string) => string): string[] =>
  Array.from({ length: count }, (_, at) => form(at, 'x'.repeat(length - deep.length - 8)));

/** A caller that mounts one volume at 20 nested folders, under as many and as long rules as the schemas take. */
function callerOf(form: (at: number, padding: string) => string) {
  const filesystem = { read: rulesOf(50, 1_024, form), write: rulesOf(50, 1_024, (at, text) => form(at + 50, text)) };
  const security = { path_allowlist: rulesOf(100, 615, (at, text) => form(at + 100, text)) };
  return { ...aToolCaller({ spec: { security: { filesystem } }, security }), mounts };
}

/** The attacker writes agents and security contexts, and calls a file tool. */
it.each<[string, (at: number, padding: string) => string]>([
  ['side by side', (at, padding) => `${deep}/${padding}${at}`],
  ['in each other', (at, padding) => `${deep}/${`${padding.slice(0, 4)}/`.repeat(at)}`],
])('a call of a file tool under the longest rules of paths, %s, holds no replica', (_name, form) => {
  const caller = callerOf(form);
  const call = (): void => {
    placeOf(caller, { volume: 'v', path: '/q', isWrite: false });
    boundariesOf(caller);
  };
  expect(restedMsOf(call, turnMs)).toBeLessThan(turnMs);
});
