import { describe, expect, it } from 'vitest';
import type { State } from '../../../crds/schema/state.ts';
import { limits } from '../../../crds/limits.ts';
import { anEnd, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { World } from '../../../test/builders/world.ts';
import { wholeChild } from '../observe.ts';

const succeeds = [{ condition: 'on_success', target: 'end' }];
/** A workflow that starts itself. */
const deep = (transitions: object[]) =>
  aWorkflow('deep')
    .state('a', { kind: 'Subworkflow', workflow_id: 'deep', transitions } as State)
    .state('end', anEnd())
    .build();

/** The execution at the top, and those below it, each the child of the one before. */
function levels(depth: number, transitions: object[] = succeeds): [top: World, ...World[]] {
  const workflow = deep(transitions);
  const worlds: [World, ...World[]] = [new World(workflow, { name: 'top', workflows: [workflow] }).settle()];
  for (let below = 1; below <= depth; below += 1) {
    const [name = ''] = worlds.at(-1)?.children.keys() ?? [];
    const parent = { name: 'p', uid: 'u', state: 'a', visit: 1, depth: below };
    worlds.push(new World(workflow, { name, spec: { parent }, workflows: [workflow] }).settle());
  }
  return worlds;
}

/** Ends each child as its execution has ended, from the last one up; gives the execution at the top. */
function endAll(worlds: readonly World[], last = worlds.at(-1)): World {
  const above = worlds.at(worlds.length - 2);
  if (above === undefined || last === undefined) throw new Error('one level has no child');
  const { phase, failure } = wholeChild(last.execution);
  above.endChild({ phase, ...(failure === undefined ? {} : { failure }) }).settle();
  return worlds.length === 2 ? above : endAll(worlds.slice(0, -1), above);
}

const nameOf = (world: World | undefined): string => world?.execution.metadata.name ?? '';

describe('WF-SUB-10 the cause of a failure some levels below', () => {
  it('is whole in the message, in the history, and in a field for programs, ten levels up', () => {
    const worlds = levels(limits.subworkflowDepthMax);
    const [child, last] = [nameOf(worlds[1]), nameOf(worlds.at(-1))];
    const { status } = endAll(worlds);
    const message = 'state a: deep would be nested more than 10 levels deep; no transition rule matched';
    const cause = `SubworkflowDepthExceeded in execution ${last}: ${message}`;
    expect(status).toMatchObject({ phase: 'failed', reason: 'SubworkflowFailed' });
    expect(status.message).toBe(`no transition rule of state a matched: child ${child} failed: ${cause}`);
    expect(status.history?.[0]?.message).toBe(`child ${child} failed: ${cause}`);
    expect(status.cause).toEqual({ execution: last, reason: 'SubworkflowDepthExceeded', message });
  });

  it('is cut at its end, behind all that says where it was', () => {
    const worlds = levels(2);
    const why = { reason: 'Long', message: `begin ${'x'.repeat(2_000)}` };
    worlds[2]?.endChild({ phase: 'failed', failure: why }).settle();
    const { message = '', history } = endAll(worlds).status;
    const [grandchild = ''] = worlds[2]?.children.keys() ?? [];
    const begin = `child ${nameOf(worlds[1])} failed: Long in execution ${grandchild}: begin xxx`;
    expect(message.length).toBeLessThan(1_024);
    expect(message).toMatch(new RegExp(`^no transition rule of state a matched: ${begin}x+…$`));
    expect(history?.[0]?.message).toMatch(new RegExp(`^${begin}x+…$`));
    expect(history?.[0]?.message).toHaveLength(256);
  });

  it('is that of terminal states as well, and a child that was cancelled', () => {
    const worlds = levels(2, []);
    worlds[2]?.cancel().settle();
    const { status } = endAll(worlds);
    expect(status).toMatchObject({ phase: 'completed', reason: 'LastStateFailed', cause: { reason: 'Cancelled' } });
    expect(status.message).toContain(
      `child ${nameOf(worlds[1])} failed: Cancelled in execution ${nameOf(worlds[2])}: `,
    );
  });

  it('is that of the child itself where it failed for none below', () => {
    const worlds = levels(1);
    worlds[1]?.cancel().settle();
    expect(endAll(worlds).status.message).toContain(`matched: child ${nameOf(worlds[1])} was cancelled: Cancelled: `);
  });

  it('is none of an execution that goes on, or that fails for another reason', () => {
    const worlds = levels(1, [{ condition: 'on_failure', target: 'end' }]);
    worlds[1]?.cancel().settle();
    const { status } = endAll(worlds);
    expect(status).toMatchObject({ phase: 'completed', reason: 'Completed' });
    expect(status).not.toHaveProperty('cause');
  });
});
