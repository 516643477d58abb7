import { describe, expect, it } from 'vitest';
import { archiveFinalizer } from '../../../crds/labels.ts';
import { anEnd, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { World } from '../../../test/builders/world.ts';
import type { Decision } from './decision.ts';
import type { ArchiveFact } from '../../archiving/decide-archiving.ts';

const second = 1_000;
const ttlSeconds = 60;
const graceSeconds = 30;

/** Decides about an execution that ended so long ago. */
function decidedAfter(ms: number, archive: ArchiveFact | undefined, held = false): Decision {
  const definition = aWorkflow('demo').state('greet', anEnd()).build();
  const world = new World(definition, { executionTtlSeconds: ttlSeconds, archiveGraceSeconds: graceSeconds }).settle();
  world.pass(ms);
  const { execution } = world.facts();
  const metadata = { ...execution.metadata, ...(held && { finalizers: [archiveFinalizer] }) };
  return world.decision({ execution: { ...execution, metadata }, archive });
}

const kinds = ({ actions }: Decision): string[] =>
  actions.map(({ kind }) => kind).filter((kind) => kind.includes('execution'));

const pending: ArchiveFact = { kind: 'pending' };
const away: ArchiveFact = { kind: 'pending', problem: 'the bus is away' };
const archived: ArchiveFact = { kind: 'archived', at: Date.parse('2026-01-02T03:05:00Z') };

describe('AMB-174 an execution that has ended', () => {
  it.each<[title: string, about: [ms: number, archive: ArchiveFact | undefined, held: boolean], want: string[]]>([
    ['has its record written', [0, pending, false], ['archive_execution']],
    ['is not held in the first second', [999, pending, false], ['archive_execution']],
    ['is held from then on', [1_000, pending, false], ['archive_execution', 'hold_execution']],
    ['is held once', [2_000, pending, true], ['archive_execution']],
    ['is let go once its record is written', [2_000, archived, true], ['let_execution_go']],
    ['is let go where there is no archive any more', [2_000, undefined, true], ['let_execution_go']],
    ['stays for its time', [ttlSeconds * second - 1, archived, false], []],
    ['is deleted when its time is over', [ttlSeconds * second, archived, false], ['delete_execution']],
    ['is deleted without an archive', [ttlSeconds * second, undefined, false], ['delete_execution']],
    ['stays for its record when its time is over', [ttlSeconds * second, away, true], ['archive_execution']],
    ['stays to the end of the grace', [(ttlSeconds + graceSeconds) * second - 1, away, true], ['archive_execution']],
    [
      'is deleted without a record after the grace',
      [(ttlSeconds + graceSeconds) * second, away, true],
      ['archive_execution', 'let_execution_go', 'delete_execution'],
    ],
  ])('%s', (_title, about, want) => {
    expect(kinds(decidedAfter(...about))).toEqual(want);
  });

  it('says in its status when its record was written', () => {
    expect(decidedAfter(0, archived).status.archived_at).toBe('2026-01-02T03:05:00.000Z');
    expect(decidedAfter(0, pending).status.archived_at).toBeUndefined();
    expect(decidedAfter(0, undefined).status.archived_at).toBeUndefined();
  });

  it('says what is lost when it is deleted without a record, and why', () => {
    const { happenings, actions } = decidedAfter((ttlSeconds + graceSeconds) * second, away, true);
    expect(happenings).toMatchObject([{ type: 'Warning', reason: 'ExecutionNotArchived' }]);
    expect(happenings[0]?.message).toContain('the bus is away');
    expect(actions).toContainEqual({ kind: 'delete_execution', unarchived: 'the bus is away' });
  });

  it('is tried again at the time that the archive names, and not before', () => {
    const refused: ArchiveFact = { kind: 'pending', problem: 'no room', retryAt: Date.parse('2026-01-02T03:04:30Z') };
    const decision = decidedAfter(5_000, refused, true);
    expect(kinds(decision)).toEqual([]);
    expect(decision.wakeAt).toBeLessThanOrEqual(Date.parse('2026-01-02T03:04:30Z'));
  });
});

describe('the TTL of an execution that ended', () => {
  const parent = { name: 'parent', uid: 'p', state: 's', visit: 1, depth: 1 };

  it.each([
    { owner: 'its parent, which deletes it', ownerUid: 'p', isChild: true, want: [] },
    { owner: 'another execution than its parent', ownerUid: 'other', isChild: true, want: ['delete_execution'] },
    { owner: 'an execution, without a parent', ownerUid: 'other', isChild: false, want: ['delete_execution'] },
  ])('counts with $owner: $want', ({ ownerUid, isChild, want }) => {
    const definition = aWorkflow('demo').state('greet', anEnd()).build();
    const world = new World(definition, { executionTtlSeconds: ttlSeconds }).settle();
    world.pass(ttlSeconds * second);
    const { execution } = world.facts();
    const owner = { apiVersion: 'windlass.dev/v1', kind: 'WorkflowExecution', name: 'x', uid: ownerUid };
    const metadata = { ...execution.metadata, ownerReferences: [owner] };
    const spec = isChild ? { ...execution.spec, parent } : execution.spec;
    expect(kinds(world.decision({ execution: { ...execution, metadata, spec } }))).toEqual(want);
  });
});
