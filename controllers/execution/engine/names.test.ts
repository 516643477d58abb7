import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isLabelName } from '../../../crds/label-name.ts';
import { anExecution } from '../../../test/builders/execution-builder.ts';
import { childName, podName, volumeName } from './names.ts';

const built = anExecution('Release.Train-7').build();
const execution = { ...built, metadata: { ...built.metadata, uid: '5f0c8a52-5c55-4a5e-9d8e-1d2f4c0f0a11' } };

const oddNames = [
  'a b',
  'a-b',
  'A-B',
  'a  b',
  'a.b',
  'a_b',
  '\u00e4',
  'a\u0308',
  'a',
  '__proto__',
  '\u{1f4e6}',
  '\u{1f4e7}',
  ' ',
  '  ',
];

it('AMB-179 volumes whose names read alike have claims of their own, which Kubernetes takes', () => {
  const made = oddNames.map((name) => volumeName(execution, name));
  expect(new Set(made).size).toBe(oddNames.length);
  for (const name of made) expect(isLabelName(name)).toBe(true);
});

it('AMB-179 no two names of volumes make one claim', () => {
  const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 63 });
  fc.assert(
    fc.property(name, name, (a, b) => {
      expect(volumeName(execution, a) === volumeName(execution, b)).toBe(a === b);
      expect(isLabelName(volumeName(execution, a))).toBe(true);
    }),
  );
});

/**
 * A replica of the next version meets pods and volumes of this one by these names: another scheme would make all of them a
 * second time. A change of it must record in the status which scheme an execution began with.
 */
it('names of pods, children and volumes are those of every version before', () => {
  expect([
    podName(execution, { state: 'build', visit: 1, attempt: 1 }),
    podName(execution, { state: 'Build it!', visit: 2, attempt: 3, step: 'lint' }),
    podName(execution, { state: 'x'.repeat(80), visit: 1, attempt: 1 }),
    childName(execution, { state: 'deploy', visit: 2 }),
    volumeName(execution, 'workspace'),
  ]).toMatchInlineSnapshot(`
    [
      "release-train-7-build-6ae08d1e59",
      "release-train-7-build-it-lint-cf8a7492cc",
      "release-train-7-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-6efca7f897",
      "release-train-7-deploy-c9f5c870d2",
      "release-train-7-workspace-021db553ea",
    ]
  `);
});
