import { describe, expect, it } from 'vitest';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { decideDefinition, replacedContents, type StoredRevision, type DefinitionFacts } from './decide.ts';

const now = Date.parse('2026-01-02T00:00:00Z');
const workflow: Workflow = {
  ...aWorkflow('w').state('a', anEnd()).build(),
  metadata: { name: 'w', uid: 'u', generation: 3 },
};
const stored = (fields: Partial<StoredRevision> = {}): StoredRevision => ({
  name: 'w-old',
  version: '0.9.0',
  createdAt: '2026-01-01T00:00:00Z',
  number: 1,
  ...fields,
});
const facts = (fields: Partial<DefinitionFacts> = {}): DefinitionFacts => ({
  definition: workflow,
  specHash: 'h1',
  revisionName: 'w-new',
  revisions: [],
  problems: [],
  warnings: [],
  forced: false,
  ...fields,
});
const ready = (status: Workflow['status']) => status?.conditions?.find(({ type }) => type === 'Ready');

describe('a definition', () => {
  it('that is valid is stored as a revision and Ready, with the generation that was looked at', () => {
    const { status, create } = decideDefinition(facts(), now);
    expect(create).toBe('w-new');
    expect(ready(status)).toMatchObject({ status: 'True', reason: 'Accepted', observedGeneration: 3 });
    expect(status).toMatchObject({
      revision: 'w-new',
      observedGeneration: 3,
      versions: [{ version: '1.0.0', revision: 'w-new' }],
    });
  });

  it('that is stored already is not stored again', () => {
    expect(
      decideDefinition(facts({ revisions: [stored({ name: 'w-new', version: '1.0.0' })] }), now).create,
    ).toBeUndefined();
  });

  it('that breaks a rule is refused with the path, and the five first of many problems', () => {
    const problems = Array.from({ length: 7 }, (_, index) => `spec.states.s${index}: wrong`);
    const { status, create } = decideDefinition(facts({ problems }), now);
    expect(create).toBeUndefined();
    expect(ready(status)).toMatchObject({ status: 'False', reason: 'InvalidDefinition' });
    expect(ready(status)?.message).toMatch(/^spec\.states\.s0: wrong.*s4: wrong; and 2 more$/);
  });

  it('WF-API-11 whose version exists with other content is refused unless it is forced', () => {
    const revisions = [stored({ version: '1.0.0' })];
    const refused = decideDefinition(facts({ revisions, changed: 'spec.description' }), now);
    expect(ready(refused.status)).toMatchObject({
      reason: 'VersionConflict',
      message: expect.stringContaining('version 1.0.0 is registered with other content (spec.description); raise'),
    });
    const forced = decideDefinition(facts({ revisions, forced: true }), now);
    expect(forced.create).toBe('w-new');
    expect(forced.status.versions).toMatchObject([{ version: '1.0.0', revision: 'w-new' }]);
  });

  it('keeps its earlier versions, newest first', () => {
    const { status } = decideDefinition(facts({ revisions: [stored()] }), now);
    expect(status.versions?.map(({ version }) => version)).toEqual(['1.0.0', '0.9.0']);
  });

  it('lists versions of the same second in the order of their registration', () => {
    const revisions = ['0.1.0', '0.3.0', '0.2.0'].map((version, index) =>
      stored({ name: version, version, number: index + 2 }),
    );
    const { status } = decideDefinition(facts({ revisions: revisions.toReversed() }), now);
    expect(status.versions?.map(({ version }) => version)).toEqual(['1.0.0', '0.2.0', '0.3.0', '0.1.0']);
  });

  it.each([498, 499, 500, 501])('lists the newest 500 of its versions: %i earlier ones', (earlier) => {
    const revisions = Array.from({ length: earlier }, (_, index) =>
      stored({ name: `r${index}`, version: `0.${index}.0`, number: index + 1 }),
    );
    const { versions = [] } = decideDefinition(facts({ revisions }), now).status;
    expect(versions).toHaveLength(Math.min(earlier + 1, 500));
    expect(versions.slice(0, 2).map(({ version }) => version)).toEqual(['1.0.0', `0.${earlier - 1}.0`]);
  });

  it('WF-API-11 lists of a version that force has replaced the last content only', () => {
    const revisions = [stored({ name: 'first', number: 2 }), stored({ name: 'last', number: 5 })];
    const { status } = decideDefinition(facts({ revisions }), now);
    expect(status.versions?.map(({ revision }) => revision)).toEqual(['w-new', 'last']);
  });

  it('that went back to an older content lists that, not what came later', () => {
    const revisions = [
      stored({ name: 'w-new', version: '1.0.0', number: 2 }),
      stored({ name: 'w-between', version: '1.0.0', number: 4 }),
    ];
    const { status } = decideDefinition(facts({ revisions, forced: true }), now);
    expect(status.versions?.map(({ revision }) => revision)).toEqual(['w-new']);
  });

  it('does not move the time of a condition that stays', () => {
    const before = decideDefinition(facts(), now).status;
    const again = decideDefinition(facts({ definition: { ...workflow, status: before } }), now + 60_000);
    expect(ready(again.status)?.lastTransitionTime).toBe(ready(before)?.lastTransitionTime);
  });
});

describe('what force replaced', () => {
  const old = (name: string, version: string, number: number) => stored({ name, version, number });
  it.each<[what: string, revisions: readonly StoredRevision[], want: readonly string[]]>([
    ['is nothing where each version has one content', [old('a', '0.8.0', 1), old('b', '0.9.0', 2)], []],
    ['is the older content of the present version, stored or not yet', [old('a', '1.0.0', 1)], ['a']],
    [
      'is what stood between where the first content was forced back',
      [old('w-new', '1.0.0', 1), old('b', '1.0.0', 2)],
      ['b'],
    ],
    [
      'is all but the last content of an earlier version',
      [old('a', '0.9.0', 3), old('b', '0.9.0', 1), old('c', '0.9.0', 2)],
      ['b', 'c'],
    ],
  ])('WF-API-11 %s', (_what, revisions, want) => {
    expect(replacedContents(facts({ revisions }))).toEqual(want);
  });

  it('is not known while the present content is refused', () => {
    const revisions = [stored({ version: '1.0.0' })];
    expect(decideDefinition(facts({ revisions }), now).accepted).toBe(false);
    expect(decideDefinition(facts({ revisions, forced: true }), now).accepted).toBe(true);
    expect(decideDefinition(facts({ revisions, forced: true, problems: ['x: wrong'] }), now).accepted).toBe(false);
  });
});
