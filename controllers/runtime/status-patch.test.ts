import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonPatchOperation } from '../../lib/kube/index.ts';
import { statusPatch } from './status-patch.ts';

const object = (status?: unknown) => ({ metadata: { name: 'x', resourceVersion: '7' }, status });
const guard = { op: 'replace', path: '/metadata/resourceVersion', value: '7' };

describe('statusPatch', () => {
  const cases: Record<string, { before?: unknown; after: object; want: JsonPatchOperation[] | undefined }> = {
    'nothing changed': { before: { a: { b: [1, null] } }, after: { a: { b: [1, null] } }, want: undefined },
    'the order of members is no change': { before: { a: 1, b: 2 }, after: { b: 2, a: 1 }, want: undefined },
    'no status before': { after: { a: 1 }, want: [{ op: 'add', path: '/status', value: { a: 1 } }] },
    'a member appears': { before: {}, after: { a: 1 }, want: [{ op: 'add', path: '/status/a', value: 1 }] },
    'a member is removed': { before: { a: 1 }, after: {}, want: [{ op: 'remove', path: '/status/a' }] },
    'undefined means gone': { before: { a: 1 }, after: { a: undefined }, want: [{ op: 'remove', path: '/status/a' }] },
    'a null is a value': {
      before: { a: { b: 1 } },
      after: { a: { b: null, c: { d: null } } },
      want: [
        { op: 'replace', path: '/status/a/b', value: null },
        { op: 'add', path: '/status/a/c', value: { d: null } },
      ],
    },
    'a list that grew': {
      before: { history: [{ s: 1 }] },
      after: { history: [{ s: 1 }, { s: 2 }, { s: 3 }] },
      want: [
        { op: 'add', path: '/status/history/-', value: { s: 2 } },
        { op: 'add', path: '/status/history/-', value: { s: 3 } },
      ],
    },
    'a list that changed inside': {
      before: { l: [1, 2] },
      after: { l: [1, 3, 4] },
      want: [{ op: 'replace', path: '/status/l', value: [1, 3, 4] }],
    },
    'a list that shrank': {
      before: { l: [1, 2] },
      after: { l: [1] },
      want: [{ op: 'replace', path: '/status/l', value: [1] }],
    },
    'names with a slash or a tilde': {
      before: { 'a/b': { '~': 1 } },
      after: { 'a/b': { '~': 2 } },
      want: [{ op: 'replace', path: '/status/a~1b/~0', value: 2 }],
    },
    'a list becomes an object': {
      before: { a: [] },
      after: { a: {} },
      want: [{ op: 'replace', path: '/status/a', value: {} }],
    },
  };
  it.each(Object.entries(cases))('%s', (_, { before, after, want }) => {
    expect(statusPatch(object(before), after)).toEqual(want && [guard, ...want]);
  });

  it('refuses an object without a version', () => {
    expect(() => statusPatch({ metadata: { name: 'x' } }, {})).toThrow('resourceVersion');
  });

  it('property: the operations turn the one status into the other', () => {
    const name = fc.constantFrom('a', 'b', 'c/d', '~', '__proto__');
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom(null, 0, 1, 'x', true),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    const status = fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true });
    fc.assert(
      fc.property(status, status, (before, after) => {
        const operations = statusPatch(object(before), after) ?? [];
        expect(applied({ metadata: { resourceVersion: '7' }, status: before }, operations).status).toEqual(after);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** RFC 6902 as far as add, remove and replace. */
function applied(
  document: { metadata: object; status: unknown },
  operations: readonly JsonPatchOperation[],
): typeof document {
  const copy = structuredClone(document);
  for (const { op, path, value } of operations) {
    const names = path
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = names.pop() ?? '';
    let parent: unknown = copy;
    for (const name of names) parent = Object.getOwnPropertyDescriptor(parent, name)?.value;
    if (Array.isArray(parent) && last === '-') parent.push(structuredClone(value));
    else if (op === 'remove') Reflect.deleteProperty(parent as object, last);
    else
      Object.defineProperty(parent, last, {
        value: structuredClone(value),
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return copy;
}
