import { describe, expect, it } from 'vitest';
import type { State } from '../../../crds/schema/state.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import { executionAgain } from '../../../lib/execution/execution-again.ts';
import { anEnd, anUpdate, aScript, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { World } from '../../../test/builders/world.ts';

const onSuccess = (target: string): State['transitions'] => [{ condition: 'on_success', target }];
const flow = aWorkflow('demo')
  .with({
    context: { colour: 'red' },
    output_template: { built: '{{build.output.stdout}}', colour: '{{blackboard.colour}}' },
  })
  .state('plan', anUpdate({ colour: '{{input.colour}}' }, 'build'))
  .state('build', { ...aScript('make'), transitions: onSuccess('ship') })
  .state('ship', { ...aScript('ship'), transitions: onSuccess('end') })
  .state('end', anEnd())
  .build();

/** A run whose `ship` failed. */
function origin(stdout: string): World {
  const world = new World(flow, { spec: { input: { colour: 'blue' } } }).settle();
  world.end('build', { stdout }).settle().end('ship', { exitCode: 1 }).settle();
  return world;
}

/** A successor, with a uid of its own. */
function successor(workflow: Workflow, old: World, { name, from }: { name: string; from?: string | undefined }): World {
  const { spec } = executionAgain(old.execution, { name, from });
  const world = new World(workflow, { name, spec, origin: old.execution });
  const { execution } = world;
  world.execution = { ...execution, metadata: { ...execution.metadata, uid: `uid-of-${name}` } };
  return world;
}

/** The run that takes up another one; stored values of the origin are at hand. */
function again(old: World, from?: string): World {
  const world = successor(flow, old, { name: 'again', from });
  for (const [ref, data] of old.blobs) world.blobs.set(ref, data);
  return world.settle();
}

describe('an execution that runs another one again', () => {
  it('WF-RUN-02 a rerun has the same input and begins anew', () => {
    const world = again(origin('one'));
    expect(world.execution.spec).toMatchObject({ input: { colour: 'blue' }, origin: { name: 'demo-1' } });
    expect(world.running()).toEqual(['build']);
    expect(world.board()).not.toHaveProperty('build');
  });

  it.each(['short', 'x'.repeat(100_000)])('WF-RUN-01 a retry has what was achieved before the state', (stdout) => {
    const world = again(origin(stdout), 'ship');
    expect(world.running()).toEqual(['ship']);
    expect(Object.keys(world.board()).toSorted()).toEqual(['build', 'colour', 'plan']);
    world.end('ship').settle();
    expect(world.status).toMatchObject({ phase: 'completed', transitions: 1, visits: { ship: 1, end: 1 } });
    expect(world.visits()).toEqual(['ship', 'end']);
    expect(JSON.stringify(world.board()['build'])).toContain(stdout);
  });

  it('a retry takes 50 MiB of stored outputs over and reads what its first state needs', () => {
    const parallel = aWorkflow('demo').with({ max_total_transitions: 100 });
    const steps = Array.from({ length: 50 }, (_, index) => `s${index}`);
    for (const [index, name] of steps.entries()) {
      parallel.state(name, { ...aScript('true'), transitions: onSuccess(steps[index + 1] ?? 'ship') });
    }
    const large = parallel
      .state('ship', {
        ...aScript('ship', { env: { LAST: '{{length s49.output.stdout}}' } }),
        transitions: onSuccess('end'),
      })
      .state('end', anEnd())
      .build();
    const old = new World(large).settle();
    for (const name of steps) old.end(name, { stdout: name.padEnd(1_048_576, 'x') }).settle();
    old.end('ship', { exitCode: 1 }).settle();
    const world = successor(large, old, { name: 'again', from: 'ship' });
    for (const [ref, data] of old.blobs) world.blobs.set(ref, data);
    const { adopted, blobs, status } = world.step();
    // The one that a template of the first state reads.
    expect([world.lastFacts?.loaded.size, blobs.length, status.phase]).toEqual([1, 0, 'running']);
    const uid = old.execution.metadata.uid ?? '';
    expect(adopted.map(({ executionUid, bytes }) => `${executionUid} ${bytes}`)).toEqual(
      steps.map(() => `${uid} 1048576`),
    );
    expect(status.blackboard?.['s49']?.refs?.[0]).toMatchObject({ stored_by: uid });
    expect(world.settle().planOf('ship').env).toMatchObject({ LAST: '1048576' });
  });

  it('a retry of a retry names the execution that stored an output first', () => {
    const first = origin('x'.repeat(100_000));
    const second = again(first, 'ship');
    second.end('ship', { exitCode: 1 }).settle();
    const third = successor(flow, second, { name: 'third', from: 'ship' }).step();
    const [one, two] = [first, second].map(({ execution }) => execution.metadata.uid ?? '');
    expect(third.adopted).toMatchObject([{ executionUid: two, storedBy: one }]);
    expect(third.status.blackboard?.['build']?.refs?.[0]).toMatchObject({ stored_by: one });
  });

  it('a retry from the first state has no entry of any state', () => {
    expect(Object.keys(again(origin('one'), 'plan').board()).toSorted()).toEqual(['colour', 'plan']);
  });

  it('takes of a state that was entered again what the earlier visit left', () => {
    const loop = aWorkflow('demo')
      .state('a', { ...aScript('a'), transitions: [{ condition: 'exit_code_zero', target: 'b' }, { target: 'c' }] })
      .state('b', { ...aScript('b'), transitions: [{ target: 'a' }] })
      .state('c', anEnd())
      .build();
    const old = new World(loop).settle().end('a', { stdout: 'first' }).settle().end('b').settle();
    old.end('a', { stdout: 'second', exitCode: 1 }).settle();
    const { spec } = executionAgain(old.execution, { name: 'again', from: 'b' });
    const world = new World(loop, { name: 'again', spec, origin: old.execution }).settle();
    expect(world.board()['a']).toMatchObject({ stdout: 'first' });
    expect(world.running()).toEqual(['b']);
  });

  it.each([
    ['is gone', undefined],
    ['has not ended', new World(flow, { spec: { input: { colour: 'blue' } } }).settle().execution],
  ])('fails from a state where its origin %s', (_why, found) => {
    const spec = { origin: { name: 'old', uid: 'u', from: 'ship' }, input: { colour: 'blue' } };
    const world = new World(flow, { spec, ...(found === undefined ? {} : { origin: found }) }).settle();
    expect(world.status).toMatchObject({ phase: 'failed', reason: 'InvalidOrigin' });
  });

  it('fails from the beginning where its origin is gone: the name alone promises what a person approved', () => {
    const spec = { origin: { name: 'old', uid: 'u' }, input: { colour: 'blue' } };
    const world = new World(flow, { spec }).settle();
    expect(world.status).toMatchObject({ phase: 'failed', reason: 'InvalidOrigin' });
    expect(world.running()).toEqual([]);
  });

  it('fails for a state that its origin never entered, whatever the object says', () => {
    const old = origin('one');
    const { spec } = executionAgain(old.execution, { name: 'again', from: 'ship' });
    const forged = { ...spec, origin: { name: 'demo-1', uid: 'u', from: 'end' } };
    const world = new World(flow, { spec: forged, origin: old.execution }).settle();
    expect(world.status).toMatchObject({ phase: 'failed', reason: 'InvalidOrigin' });
  });
});

describe('an execution that names an origin of something else', () => {
  /** Mallory writes the object herself: a person approved what the origin did, not this. */
  it.each<[string, object]>([
    ['input', { input: { colour: 'black' } }],
    ['input', { input: undefined }],
    ['intent', { intent: 'another' }],
    ['blackboard', { blackboard: { approved: true } }],
    ['workflow', { workflow: 'another' }],
    ['version', { version: '9.9.9' }],
    ['version', { version: undefined }],
  ])('fails where spec.%s differs, from the beginning and from a state: %j', (field, change) => {
    const old = origin('one');
    for (const from of [undefined, 'ship']) {
      const { spec } = executionAgain(old.execution, { name: 'again', from });
      const world = new World(flow, { name: 'again', spec: { ...spec, ...change }, origin: old.execution }).settle();
      expect([world.status.reason, world.status.message]).toEqual([
        'InvalidOrigin',
        expect.stringContaining(`spec.${field} is not what`),
      ]);
      expect(world.running()).toEqual([]);
    }
  });

  it('names the workflow by uid or name, and its input in any order', () => {
    const old = new World(flow, { spec: { input: { colour: 'blue', n: 1 } } }).settle();
    const { spec } = executionAgain(old.execution, { name: 'again' });
    const same = { ...spec, workflow: 'demo', input: { n: 1, colour: 'blue' } };
    const world = new World(flow, { name: 'again', spec: same, origin: old.execution }).settle();
    expect(world.running()).toEqual(['build']);
  });
});

describe('the object that asks for it', () => {
  const refusal = (act: () => unknown): unknown => {
    try {
      return act();
    } catch (error) {
      return (error as { reason?: string }).reason;
    }
  };

  it.each<[reason: string, world: () => World, from: string | undefined]>([
    ['NotBegun', () => new World(flow), undefined],
    ['NotFinished', () => new World(flow, { spec: { input: { colour: 'blue' } } }).settle(), 'build'],
    ['NeverEntered', () => origin('one'), 'end'],
    ['NeverEntered', () => origin('one'), 'toString'],
  ])('is refused as %s', (reason, world, from) => {
    expect(refusal(() => executionAgain(world().execution, { from }))).toBe(reason);
  });
});
