import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Workflow } from '../../../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../../../crds/schema/workflow-execution.ts';
import { createValidator } from '../../../../crds/validators.ts';
import { approvalIdOf } from '../../../../lib/decision/approval-id.ts';
import { anyExits, anyWorkflow, help, isOver } from '../../../../test/builders/any-workflow.ts';
import { after, anExecution } from '../../../../test/builders/execution-builder.ts';
import { World } from '../../../../test/builders/world.ts';
import { type EventType, eventFields, lastEvents } from './event-schema.ts';
import { deletedEvent, eventsBehind, type PlacedEvent } from './events.ts';
import { eventId, isBehind, nowhere, type EventPosition } from './position.ts';

const id = '00000000-0000-4000-8000-000000000001';
const typeOf = ({ event }: PlacedEvent) => Object.keys(event)[0] as EventType;
const fieldsOf = (placed: PlacedEvent | undefined) => Object.values(placed?.event ?? {})[0] as Record<string, unknown>;
const linesOf = (execution: WorkflowExecution, behind: EventPosition = nowhere): string[] =>
  eventsBehind(execution, behind).map((placed) => `${eventId(placed.position)} ${typeOf(placed)}`);
const byId = (execution: WorkflowExecution, wanted: string) =>
  fieldsOf(eventsBehind(execution, nowhere).find(({ position }) => eventId(position) === wanted));

const aRun = () =>
  anExecution()
    .past({ state: 'build', attempts: 3, rule: 1, target: 'ask' }, { output: { exit_code: 0 } })
    .past({ state: 'ask', kind: 'Human', signal: { id: 'ask-1', by: 'sam', at: after(2), response: 'no' } }, 'no')
    .now({ state: 'build', visit: 2, kind: 'ContainerRun', attempt: 2, deadline: after(300) });

describe('what happened to an execution', () => {
  it('AMB-030 covers all events from the first to the present', () => {
    expect(linesOf(aRun().build())).toEqual([
      'start workflow_execution_started',
      '1.started state_started',
      '1.attempt.2 state_retried',
      '1.attempt.3 state_retried',
      '1.completed state_completed',
      '2.started state_started',
      '2.approval human_approval_requested',
      '2.completed state_completed',
      '3.started state_started',
      '3.attempt.2 state_retried',
    ]);
  });

  it.each([
    ['has not been looked at', anExecution().build(), []],
    ['waits for its workflow', anExecution().status({ phase: 'pending', started_at: undefined }).build(), []],
    [
      'had a bad input',
      anExecution().status({ started_at: undefined, reason: 'InvalidInput' }).ended('failed', 1).build(),
      ['end workflow_execution_failed'],
    ],
    [
      'ended at once',
      anExecution().past({ state: 'done', kind: 'System' }).ended('completed', 1).build(),
      [
        'start workflow_execution_started',
        '1.started state_started',
        '1.completed state_completed',
        'end workflow_execution_completed',
      ],
    ],
    [
      'could not make a prompt and asked no question',
      anExecution().past({ state: 'a', kind: 'Human', status: 'failed', reason: 'TemplateFailed' }).build(),
      ['start workflow_execution_started', '1.started state_started', '1.completed state_completed'],
    ],
    [
      'asked, and no answer came in time',
      anExecution().past({ state: 'a', kind: 'Human', status: 'failed', reason: 'StateTimeout' }).build(),
      [
        'start workflow_execution_started',
        '1.started state_started',
        '1.approval human_approval_requested',
        '1.completed state_completed',
      ],
    ],
  ])('that %s', (_title, execution, want) => {
    expect(linesOf(execution)).toEqual(want);
  });

  it('AMB-169 says of a run that came to its end why its last state failed', () => {
    const reason = 'LastStateFailed';
    const failed = anExecution().status({ reason, message: 'terminal state end failed' }).ended('completed', 9).build();
    expect(byId(failed, 'end')).toMatchObject({ reason, message: 'terminal state end failed' });
    const sound = byId(anExecution().status({ reason: 'Completed', message: '' }).ended('completed', 9).build(), 'end');
    expect(sound).not.toHaveProperty('reason');
  });

  it('AMB-032 AMB-186 ends in exactly one of three ways while it exists', () => {
    expect(
      byId(aRun().status({ reason: 'NodeLost', message: 'gone', transitions: 4 }).ended('failed', 9).build(), 'end'),
    ).toEqual({ execution_id: id, reason: 'NodeLost', error: 'gone', transitions: 4, failed_at: after(9) });
    const cancel = { by: 'ann', at: after(1), reason: 'enough' };
    expect(byId(anExecution().with({ cancel }).ended('cancelled', 9).build(), 'end')).toEqual({
      execution_id: id,
      by: 'ann',
      reason: 'enough',
      transitions: 0,
      cancelled_at: after(9),
    });
    expect(
      byId(
        anExecution()
          .status({ final_output: { n: 1 } })
          .ended('completed', 9)
          .build(),
        'end',
      ),
    ).toEqual({
      execution_id: id,
      final_output: { n: 1 },
      transitions: 0,
      completed_at: after(9),
    });
    expect(deletedEvent(id).event).toEqual({ workflow_execution_deleted: { execution_id: id } });
  });

  it('WF-API-04 the final output is null without a template, and a reference where it is too large', () => {
    const ref = { path: '', ref: 'a'.repeat(64), bytes: 40_000, encoding: 'json' as const };
    expect(byId(anExecution().ended('completed', 1).build(), 'end')).toMatchObject({ final_output: null });
    expect(byId(anExecution().status({ final_output_ref: ref }).ended('completed', 1).build(), 'end')).toMatchObject({
      final_output: { ref: 'a'.repeat(64), bytes: 40_000, truncated: false },
    });
  });

  it('a state that ended shows its exit code, answer, attempts, rule and target', () => {
    expect(byId(aRun().build(), '1.completed')).toEqual({
      execution_id: id,
      state: 'build',
      visit: 1,
      status: 'success',
      attempts: 3,
      exit_code: 0,
      rule: 1,
      target: 'ask',
      completed_at: after(1),
    });
    expect(byId(aRun().build(), '2.completed')).toMatchObject({ state: 'ask', response: 'no', by: 'sam' });
  });

  it('HUMAN-API-01 a question shows the id under which it is answered, while it is open and afterwards', () => {
    const asking = anExecution().now({ state: 'ask', kind: 'Human', visit: 2, prompt: 'Deploy?' }).build();
    const asked = approvalIdOf(asking);
    expect(asked).toBeDefined();
    expect(byId(asking, '1.approval')).toMatchObject({ request_id: asked });
    const answered = anExecution().past({ state: 'ask', kind: 'Human', visit: 2 }, 'no').build();
    expect(byId(answered, '1.approval')).toMatchObject({ request_id: asked });
  });

  it('a parallel state shows the exit code of each step', () => {
    const steps = { unit: { exit_code: 0 }, lint: { exit_code: 2 } };
    const execution = anExecution().past({ state: 'checks', kind: 'ParallelContainerRun' }, { output: steps }).build();
    expect(byId(execution, '1.completed')).toMatchObject({ steps: { unit: 0, lint: 2 } });
  });

  it('facts of the present state alone are shown while it lasts', () => {
    expect(byId(aRun().build(), '3.started')).toMatchObject({ deadline: after(300) });
    const asking = anExecution().now({ state: 'ask', kind: 'Human', prompt: 'Deploy?' }).build();
    expect(byId(asking, '1.approval')).toMatchObject({ prompt: 'Deploy?' });
    const failure = { reason: 'ExitCode', message: 'exit code 1' };
    const again = aRun()
      .now({ state: 'b', kind: 'ContainerRun', attempt: 3, failure, retry_at: after(5) })
      .build();
    expect(byId(again, '3.attempt.3')).toMatchObject({ ...failure, retry_at: after(5) });
    expect(byId(again, '3.attempt.2')).not.toHaveProperty('reason');
  });
});

const uuid = (placed: PlacedEvent) => ('workflow_id' in fieldsOf(placed) ? { workflow_id: id } : {});

/** Every version of a random run. */
function versionsOf(flow: Workflow, codes: readonly number[], cancelAt: number): WorkflowExecution[] {
  const world = new World(flow);
  const versions = [world.execution];
  for (let round = 0; round < 2_000 && !isOver(world); round += 1) {
    if (round === cancelAt) world.cancel('enough');
    world.step();
    versions.push(world.execution);
    if (!isOver(world)) help(world, codes[round % codes.length] ?? 0);
  }
  return versions;
}

const runs = [anyWorkflow, anyExits, fc.integer({ min: 0, max: 60 })] as const;
/** Facts that only the present state knows. */
const passing = new Set(['prompt', 'answers', 'reason', 'message', 'retry_at', 'deadline']);
const known = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !passing.has(name)));
const lasting = (placed: PlacedEvent) =>
  ['state_started', 'state_retried', 'human_approval_requested'].includes(typeOf(placed))
    ? [placed.position, known(fieldsOf(placed))]
    : [placed.position, fieldsOf(placed)];

describe('the events of random runs', () => {
  it('AMB-030 are the same for a reader of every version, some of them, or only the last', () => {
    fc.assert(
      fc.property(...runs, fc.infiniteStream(fc.boolean()), (flow, codes, cancelAt, coin) => {
        const versions = versionsOf(flow, codes, cancelAt);
        const last = versions.at(-1);
        if (last === undefined) return;
        const follow = (sees: () => boolean): PlacedEvent[] => {
          const events: PlacedEvent[] = [];
          for (const version of versions) {
            if (version === last || sees()) events.push(...eventsBehind(version, events.at(-1)?.position ?? nowhere));
          }
          return events;
        };
        const replay = eventsBehind(last, nowhere).map(lasting);
        expect(follow(() => true).map(lasting)).toEqual(replay);
        expect(follow(() => coin.next().value === true).map(lasting)).toEqual(replay);
      }),
      { numRuns: 150 },
    );
  });

  it('AMB-032 are in strict order, of the documented form, and the last alone ends the stream', () => {
    const validate = Object.fromEntries(
      Object.entries(eventFields).map(([type, schema]) => [type, createValidator(schema)]),
    );
    fc.assert(
      fc.property(...runs, (flow, codes, cancelAt) => {
        const versions = versionsOf(flow, codes, cancelAt);
        const events = eventsBehind(versions.at(-1) ?? anExecution().build(), nowhere);
        for (const [index, event] of events.entries()) {
          expect(isBehind(event.position, events[index - 1]?.position ?? nowhere)).toBe(true);
          expect((lastEvents as readonly string[]).includes(typeOf(event))).toBe(index === events.length - 1);
          // The builder's workflow has a short id.
          expect(validate[typeOf(event)]?.({ ...fieldsOf(event), ...uuid(event) })).toEqual([]);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('AMB-030 behind any event are exactly those that follow it', () => {
    fc.assert(
      fc.property(...runs, (flow, codes, cancelAt) => {
        const last = versionsOf(flow, codes, cancelAt).at(-1) ?? anExecution().build();
        const events = eventsBehind(last, nowhere);
        for (const [index, { position }] of events.entries()) {
          expect(eventsBehind(last, position)).toEqual(events.slice(index + 1));
        }
      }),
      { numRuns: 50 },
    );
  });
});
