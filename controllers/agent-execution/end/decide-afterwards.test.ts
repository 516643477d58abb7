import { describe, expect, it } from 'vitest';
import { archiveFinalizer } from '../../../crds/labels.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { ArchiveFact } from '../../archiving/decide-archiving.ts';
import { decideAfterwards } from './decide-afterwards.ts';

const end = Date.parse('2026-01-02T00:00:00Z');
const ttlSeconds = 60;
const graceMs = 30_000;
const due = ttlSeconds * 1_000;

interface Given {
  readonly held?: boolean;
  readonly archived?: boolean;
  readonly child?: boolean;
  readonly asked?: number;
}

function ended({ held, archived, child, asked }: Given): AgentExecution {
  return {
    apiVersion: 'windlass.dev/v1',
    kind: 'AgentExecution',
    metadata: { name: 'run', ...(held && { finalizers: [archiveFinalizer] }) },
    spec: {
      agent: 'reviewer',
      ...(child && { parent: { name: 'p', uid: 'u', state: 's', visit: 1 } }),
      ...(asked !== undefined && { ttl_seconds_after_finished: asked }),
    },
    status: {
      phase: 'completed',
      finished_at: new Date(end).toISOString(),
      ...(archived && { archived_at: new Date(end).toISOString() }),
    },
  };
}

const pending: ArchiveFact = { kind: 'pending' };
const away: ArchiveFact = { kind: 'pending', problem: 'the bus is away', retryAt: end + 500_000 };
const written: ArchiveFact = { kind: 'archived', at: end };

/** The decision so many milliseconds after the end, in words. */
function decided(ms: number, record: ArchiveFact | undefined, given: Given = {}): string[] {
  const facts = { now: end + ms, record, ttlSeconds, graceMs };
  const { actions, wakeAt, removal } = decideAfterwards(ended(given), facts);
  return [
    ...actions.map(({ kind }) => words[kind]),
    ...(wakeAt === undefined ? [] : [`wake ${wakeAt - end}`]),
    ...(removal.kind === 'delete' ? [['delete', removal.unarchived?.why ?? []].flat().join(': ')] : []),
    ...(removal.kind === 'wait' ? [`look ${removal.until - end}`] : []),
  ];
}

const words = { archive_execution: 'write', hold_execution: 'hold', let_execution_go: 'let_go' };

describe('AMB-174 an execution of an agent that has ended', () => {
  it.each<[title: string, got: string[], want: string[]]>([
    ['has its record written', decided(0, pending), ['write', 'wake 1000', `look ${due}`]],
    ['is not held in the first second', decided(999, pending), ['write', 'wake 1000', `look ${due}`]],
    ['is held from then on', decided(1_000, pending), ['write', 'hold', `look ${due}`]],
    ['is held once', decided(2_000, pending, { held: true }), ['write', `look ${due}`]],
    ['waits as long as the archive says', decided(2_000, away, { held: true }), ['wake 500000', `look ${due}`]],
    ['is let go once its record is written', decided(2_000, written, { held: true }), ['let_go', `look ${due}`]],
    [
      'is let go where its status says so',
      decided(2_000, pending, { held: true, archived: true }),
      ['let_go', `look ${due}`],
    ],
    ['is let go where there is no archive', decided(2_000, undefined, { held: true }), ['let_go', `look ${due}`]],
    ['stays for its time', decided(due - 1, written), [`look ${due}`]],
    ['is deleted when its time is over', decided(due, written), ['delete']],
    ['is deleted at the time that it names', decided(5_000, written, { asked: 5 }), ['delete']],
    ['is deleted without an archive', decided(due, undefined), ['delete']],
    ['stays for its record', decided(due, pending, { held: true }), ['write', `look ${due + graceMs}`]],
    [
      'stays to the end of the grace',
      decided(due + graceMs - 1, pending, { held: true }),
      ['write', `look ${due + graceMs}`],
    ],
    [
      'is deleted without a record after the grace',
      decided(due + graceMs, away, { held: true }),
      ['let_go', 'delete: the bus is away'],
    ],
    ['is archived as a child as well', decided(0, pending, { child: true }), ['write', 'wake 1000']],
    ['stays with its parent', decided(due * 10, written, { child: true }), []],
  ])('%s', (_title, got, want) => {
    expect(got).toEqual(want);
  });
});
