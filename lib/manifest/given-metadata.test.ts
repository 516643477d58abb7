import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { annotations, labels } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import type { WorkflowManifest } from '../../crds/schema/workflow-manifest.ts';
import { toCustomResource, toManifest } from './convert.ts';
import { givenMetadata, type MetadataMaps, objectMetadata } from './given-metadata.ts';
import { isLabelValue, isMetadataKey } from './kubernetes-syntax.ts';
import { readManifest } from './read-manifest.ts';

const manifest = (maps: MetadataMaps): string =>
  JSON.stringify({
    apiVersion: 'windlass.dev/v1',
    kind: 'Workflow',
    metadata: { name: 'demo', version: '1.0.0', ...maps },
    spec: { initial_state: 'end', states: { end: { kind: 'System', command: 'finalize', transitions: [] } } },
  });
const problemsOf = (maps: MetadataMaps): string[] =>
  readManifest(manifest(maps)).problems.map(({ path, message }) => `${path}: ${message}`);

describe('labels and annotations of a manifest', () => {
  it('AMB-178 WF-MAN-07 WF-MAN-08 that Kubernetes refuses come back unchanged, and the others are labels of the object', () => {
    const given = {
      labels: { team: 'web', 'cost centre': 'A & B', owner: 'Ada Lovelace <ada@example.com>', '': 'x' },
      annotations: { note: 'plain', 'two words': 'a\nb', 'a/b/c': '\u0000' },
    };
    const { workflow, problems } = readManifest(manifest(given));
    expect(problems).toEqual([]);
    expect(workflow?.metadata).toEqual({
      name: 'demo',
      labels: { team: 'web' },
      annotations: { note: 'plain', [annotations.given]: JSON.stringify(given) },
    });
    expect(workflow && toManifest(workflow).metadata).toEqual({ name: 'demo', version: '1.0.0', ...given });
  });

  it('AMB-178 that Kubernetes takes are those of the object, and no annotation beside them', () => {
    const given = {
      labels: { team: 'web', 'app.kubernetes.io/part-of': 'shop' },
      annotations: { 'example.org/a': 'b c' },
    };
    expect(objectMetadata(given)).toEqual(given);
    expect(givenMetadata(given)).toEqual(given);
  });

  it('AMB-178 come back as they are, whatever texts they hold', () => {
    const key = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('__proto__', 'constructor', 'a', 'kubernetes.io/x'),
    );
    const map = fc.dictionary(key, fc.string({ unit: 'binary' }));
    const maps = fc.record({ labels: map, annotations: map }, { requiredKeys: [] });
    fc.assert(
      fc.property(maps, (given) => {
        const object = objectMetadata(given);
        expect(givenMetadata(object)).toEqual(given);
        for (const [name, value] of Object.entries(object.labels ?? {})) {
          expect([isMetadataKey(name), isLabelValue(value)]).toEqual([true, true]);
        }
        expect(Object.keys(object.annotations ?? {}).filter((name) => !isMetadataKey(name))).toEqual([]);
      }),
    );
  });

  it('a label that kubectl changes, adds or takes away shows in the manifest', () => {
    const object = objectMetadata({ labels: { a: '1', b: '2', 'not one': '3' } });
    const changed = { ...object, labels: { a: '9', c: '4' } };
    expect(givenMetadata(changed)).toEqual({ labels: { a: '9', c: '4', 'not one': '3' } });
  });

  it('AMB-089 a manifest with an unusual name keeps both', () => {
    const metadata = { name: 'dash-', version: '1.0.0', labels: { 'a b': 'c' }, annotations: {} };
    const spec = { initial_state: 'end', states: {} };
    const whole: WorkflowManifest = { apiVersion: 'windlass.dev/v1', kind: 'Workflow', metadata, spec };
    expect(toManifest(toCustomResource(whole))).toEqual(whole);
  });
});

describe('bounds of labels and annotations', () => {
  /** As JSON: `{"labels":{"a b":"…"}}`. */
  const ofBytes = (bytes: number): MetadataMaps => ({ labels: { 'a b': 'x'.repeat(bytes - 21) } });

  it.each([
    [limits.givenMetadataBytes - 1, []],
    [limits.givenMetadataBytes, []],
    [limits.givenMetadataBytes + 1, [expect.stringMatching(/^metadata\.labels\["a b"\]: .* at most 32768 are kept$/)]],
  ])('AMB-178 those that are kept have %d bytes as JSON', (bytes, want) => {
    expect(Buffer.byteLength(JSON.stringify(ofBytes(bytes)))).toBe(bytes);
    expect(problemsOf(ofBytes(bytes))).toEqual(want);
  });

  const ofCount = (count: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`key ${index}`, '']));

  it.each(['labels', 'annotations'])('AMB-178 %s are %d at most', (map) => {
    for (const count of [limits.mapEntries - 1, limits.mapEntries])
      expect(problemsOf({ [map]: ofCount(count) })).toEqual([]);
    expect(problemsOf({ [map]: ofCount(limits.mapEntries + 1) })).toEqual([
      `metadata.${map}: must have at most ${limits.mapEntries} entries`,
    ]);
  });

  it.each([
    [limits.annotationBytes - 1, []],
    [limits.annotationBytes, []],
    [limits.annotationBytes + 1, ['metadata.annotations: have 262145 bytes in all; at most 262144']],
  ])('WF-MAN-08 annotations of the object have %d bytes in all', (bytes, want) => {
    expect(problemsOf({ annotations: { a: 'x'.repeat(bytes - 1) } })).toEqual(want);
  });
});

describe('what a stranger writes', () => {
  it.each([
    'kubernetes.io/metadata.name',
    'kubectl.kubernetes.io/last-applied-configuration',
    'pod-security.kubernetes.io/enforce',
    'node.k8s.io/x',
    labels.managedBy,
  ])('AMB-178 %s of a manifest comes back, and is neither a label nor an annotation of the object', (key) => {
    const given = { labels: { [key]: 'x', a: 'b' }, annotations: { [key]: 'y' } };
    const object = objectMetadata(given);
    expect(object).toEqual({ labels: { a: 'b' }, annotations: { [annotations.given]: JSON.stringify(given) } });
    expect(givenMetadata(object)).toEqual(given);
  });

  it.each(['kubernetes.io', 'notkubernetes.io/x', 'kubernetes.io.example.org/x', 'app.kubernetes.io/name'])(
    '%s is a label like any other',
    (key) => expect(objectMetadata({ labels: { [key]: 'x' } })).toEqual({ labels: { [key]: 'x' } }),
  );

  it.each(['', '{', '[]', 'null', '{"labels":[1]}', '{"labels":{"a b":1}}', 'x'.repeat(limits.givenMetadataBytes + 1)])(
    'an annotation that holds no labels counts as none (%#)',
    (text) =>
      expect(givenMetadata({ labels: { a: 'b' }, annotations: { [annotations.given]: text } })).toEqual({
        labels: { a: 'b' },
      }),
  );

  it('AMB-178 neither of the two annotations that Windlass keeps is for a manifest to write', () => {
    expect(problemsOf({ annotations: { [annotations.given]: '{}' } })).toEqual([
      'metadata.annotations["windlass.dev/given-metadata"]: the annotation is reserved; write its labels and annotations under metadata',
    ]);
    expect(problemsOf({ annotations: { [annotations.name]: 'x' } })).toEqual([
      'metadata.annotations["windlass.dev/name"]: the annotation is reserved; metadata.name says the name',
    ]);
  });
});

describe('the syntax of Kubernetes', () => {
  const word = 'a'.repeat(63);
  it.each(['a', word, 'A_b.c-9', 'example.org/a', `${'a'.repeat(253)}/b`, 'a-b.c/d'])('takes the key %s', (key) => {
    expect(isMetadataKey(key)).toBe(true);
  });
  it.each([
    '',
    '-',
    'a-',
    `${word}a`,
    'a b',
    '/a',
    'a/',
    'a/b/c',
    'A.org/a',
    'a..b/c',
    '-a/b',
    `${'a'.repeat(254)}/b`,
    'é',
  ])('refuses the key %j', (key) => expect(isMetadataKey(key)).toBe(false));
});
