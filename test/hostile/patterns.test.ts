import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { validateSpec } from '../../crds/validators.ts';
import { quantityValue } from '../../lib/quantity.ts';
import { restedMsOf, turnMs } from './support/turns.ts';

/** Ajv looks at the pattern of a text that is too long as well: the body of a request may be one text. */
const length = 65_536;

const schemas = resolve(import.meta.dirname, '../../crds/schema');
const found = new Map<string, string>();
const seen = new Set<object>();

/** Collects the patterns of a schema, with the first place of each. */
function collect(part: unknown, place: string): void {
  if (typeof part !== 'object' || part === null || seen.has(part)) return;
  seen.add(part);
  for (const [key, value] of Object.entries(part)) {
    const patterns = key === 'patternProperties' && typeof value === 'object' ? Object.keys(value as object) : [];
    for (const pattern of key === 'pattern' && typeof value === 'string' ? [value] : patterns)
      if (!found.has(pattern)) found.set(pattern, place);
    collect(value, `${place}.${key}`);
  }
}

for (const file of globSync('*.ts', { cwd: schemas }).filter((name) => !name.endsWith('.test.ts'))) {
  const module = (await import(resolve(schemas, file))) as Readonly<Record<string, unknown>>;
  for (const [name, schema] of Object.entries(module)) collect(schema, `${file} ${name}`);
}

const beginnings = ['', 'a', '1', '/', 'https://', 'a@', '1.0.0-', '1.0.0+', 'volume:a/'];
const repeated = [
  '0',
  '1',
  'a',
  'A',
  '-',
  '_',
  '.',
  '/',
  '*',
  ':',
  ' ',
  'a-',
  'a.',
  '1.',
  '/a',
  '*.',
  'a*',
  '{{',
  '1a',
];
/** No pattern takes the last character, so that a search by trial tries all. */
const texts = beginnings.flatMap((begin) =>
  repeated.map((part) => `${begin}${part.repeat(length / part.length)}\u0001`),
);

describe('an attacker who may put any text into a field with a pattern', () => {
  it('finds patterns to attack', () => {
    expect(found.size).toBeGreaterThan(20);
  });

  it.each([...found])('does not hold the loop with texts against %s', (pattern) => {
    const regExp = new RegExp(pattern, 'u');
    const dearest = texts.filter((text) => cpuMicrosOf(() => regExp.test(text)) > turnMs * 100);
    for (const text of dearest) expect(restedMsOf(() => regExp.test(text), turnMs)).toBeLessThan(turnMs);
  });

  it('does not hold it with an amount of memory, in a definition or as an amount', () => {
    const memory = `${'1'.repeat(length)}x`;
    const state = { kind: 'ContainerRun', image: 'x', command: ['true'], resources: { memory }, transitions: [] };
    const definition = { version: '1.0.0', initial_state: 'a', states: { a: state } };
    expect(restedMsOf(() => validateSpec.Workflow(definition), turnMs)).toBeLessThan(turnMs);
    expect(restedMsOf(() => quantityValue(memory), turnMs)).toBeLessThan(turnMs);
  });
});

function cpuMicrosOf(run: () => unknown): number {
  const before = process.threadCpuUsage();
  run();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}
