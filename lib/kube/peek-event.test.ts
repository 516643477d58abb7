import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { peekChanged } from './peek-event.ts';

const lineOf = (type: string, object: object): Buffer => Buffer.from(JSON.stringify({ type, object }));
const names = { apiVersion: 'windlass.dev/v1', kind: 'WorkflowExecution' };
const large = 'x'.repeat(16 * 1024);

/** Texts that look like the end of a text, of an object or of the whole event. */
const traps = fc.constantFrom(
  '"}',
  '\\"}',
  '\\\\',
  '{{{',
  '}}}',
  '","metadata":{"resourceVersion":"1"}',
  '"}}\n{"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":"1"',
  '\ud800',
  'ä😀',
);
const texts = fc.oneof(
  traps,
  fc.string(),
  fc.array(traps).map((parts) => parts.join('')),
);
const fields = fc.dictionary(texts, texts, { maxKeys: 5 });
const metadatas = fc.record({
  annotations: fields,
  labels: fields,
  managedFields: fc.array(fc.record({ manager: texts, fieldsV1: fields }), { maxLength: 3 }),
  name: texts,
  resourceVersion: texts,
});

describe('the metadata of a large event', () => {
  it('is found without the rest, whatever texts its author has put into it', () => {
    fc.assert(
      fc.property(fc.constantFrom('ADDED', 'MODIFIED'), metadatas, fields, (type, metadata, spec) => {
        const line = lineOf(type, { ...names, metadata, spec: { ...spec, large } });
        const parsed = JSON.parse(line.toString()) as { object: { metadata: object } };
        expect(peekChanged(line)).toEqual({ metadata: parsed.object.metadata });
      }),
    );
  });

  it('is found in an object of a built-in kind, which begins with its kind', () => {
    const line = lineOf('ADDED', { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { large } });
    expect(peekChanged(line)).toEqual({ metadata: { name: 'a' } });
  });

  it('is not looked for where an object has ended, or the line is small or begins otherwise', () => {
    const metadata = { name: 'a' };
    const others = [
      lineOf('DELETED', { ...names, metadata, large }),
      lineOf('MODIFIED', { ...names, metadata }),
      lineOf('MODIFIED', { ...names, spec: { large }, metadata }),
      lineOf('MODIFIED', { ...names, kind: 'a"b', metadata, large }),
      Buffer.from(JSON.stringify({ object: { ...names, metadata, large }, type: 'MODIFIED' })),
      Buffer.from(`{"type":"MODIFIED","object":{"apiVersion":"v1","kind":"Pod","metadata":[${'1,'.repeat(10_000)}1]}}`),
      Buffer.from(`{"type":"MODIFIED","object":{"apiVersion":"v1","kind":"Pod","metadata":{"a":"${large}`),
      Buffer.from(`{"type":"MODIFIED","object":{"apiVersion":"v1","kind":"Pod","metadata":{"a":tru},"b":"${large}"}}`),
    ];
    expect(others.map((line) => peekChanged(line))).toEqual(others.map(() => undefined));
  });

  it.each([
    ['one byte less than', -1, true],
    ['exactly', 0, true],
    ['one byte more than', 1, false],
  ])('of %s 512 KiB is found: %s %s', (_what, more, isFound) => {
    const empty = JSON.stringify({ name: '' }).length;
    const metadata = { name: 'x'.repeat(512 * 1024 - empty + more) };
    expect(peekChanged(lineOf('MODIFIED', { ...names, metadata, spec: {} })) !== undefined).toBe(isFound);
  });

  it.each([16 * 1024 - 1, 16 * 1024, 16 * 1024 + 1])('of a line of %i bytes is looked for from 16 KiB on', (bytes) => {
    const bare = lineOf('MODIFIED', { ...names, metadata: {}, spec: '' }).length;
    const line = lineOf('MODIFIED', { ...names, metadata: {}, spec: 'x'.repeat(bytes - bare) });
    expect(line).toHaveLength(bytes);
    expect(peekChanged(line) !== undefined).toBe(bytes >= 16 * 1024);
  });
});
