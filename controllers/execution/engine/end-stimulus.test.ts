import { describe, expect, it } from 'vitest';
import { annotations, labels } from '../../../crds/labels.ts';
import { limits } from '../../../crds/limits.ts';
import type { WorkflowSpec } from '../../../crds/schema/workflow.ts';
import { uidPattern } from '../../../crds/uid.ts';
import { endStimulusId } from '../../../lib/stimulus/workflow-source.ts';
import { anEnd, anUpdate, aScript, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { World, type WorldOptions } from '../../../test/builders/world.ts';
import { engineLimits } from '../limits.ts';

const onEnd = { source: 'workflow:build', workflow: 'deploy' };
const deploy = aWorkflow('deploy').with({ version: '2.1.0' }).state('go', anEnd()).build();

function aBuild(fields: Partial<WorkflowSpec> = {}, options: WorldOptions = {}): World {
  const build = aWorkflow('build')
    .with(fields)
    .state('greet', anUpdate({ text: 'hello' }, 'end'))
    .state('end', anEnd());
  return new World(build.build(), { onEnd, workflows: [deploy], spec: { workflow: 'build' }, ...options });
}

const refusals = (world: World): string[] =>
  world.happenings.filter(({ reason }) => reason === 'StimulusRefused').map(({ message }) => message);

describe('AMB-189 the end of an execution whose workflow a route names', () => {
  it('starts the workflow of the route once, with what has ended as its input', () => {
    const world = aBuild({ output_template: { said: '{{blackboard.text}}' } }).settle();
    expect(world.linkPlans).toHaveLength(1);
    const { execution_id: id } = (world.linkPlans[0]?.spec.input ?? {}) as { execution_id?: string };
    expect(id).toBe(world.execution.metadata.uid);
    expect(world.linkPlans[0]).toMatchObject({
      name: `stimulus-${world.status.stimulus?.id}`,
      namespace: 'default',
      workflow: { reference: 'deploy', version: '2.1.0' },
      spec: {
        input: { workflow: 'build', status: 'completed', final_output: { said: 'hello' } },
        blackboard: { stimulus: { source: 'workflow:build', received_at: world.status.finished_at, headers: {} } },
      },
      labels: { [labels.stimulus]: world.status.stimulus?.id, [labels.stimulusSource]: 'WorkflowEngineSignal' },
      annotations: { [annotations.linkedFrom]: 'demo-1', [annotations.linkRoot]: id, [annotations.linkDepth]: '1' },
    });
  });

  it('says in its status and in an Event which execution it started', () => {
    const world = aBuild().settle();
    const { id = '', execution } = world.status.stimulus ?? {};
    expect(execution).toEqual({ name: `stimulus-${id}`, uid: `uid-stimulus-${id}` });
    expect(world.happenings).toContainEqual({
      type: 'Normal',
      reason: 'StimulusSent',
      message: `workflow:build started execution stimulus-${id} of workflow deploy`,
    });
  });

  it.each([
    ['failed', (world: World) => world.settle().end('run', { exitCode: 1 }).settle()],
    ['cancelled', (world: World) => world.settle().cancel('enough').settle()],
  ] as const)('starts it where the execution has %s, with no final output', (status, run) => {
    const build = aWorkflow('build').state(
      'run',
      aScript('exit 1', { transitions: [{ condition: 'on_success', target: 'end' }] }),
    );
    const world = run(new World(build.state('end', anEnd()).build(), { onEnd, workflows: [deploy] }));
    expect(world.status.phase).toBe(status);
    expect(world.linkPlans).toMatchObject([{ spec: { input: { status, final_output: null } } }]);
  });

  it('writes the stimulus with the end itself, so that a route that comes later is for later ends', () => {
    const world = aBuild();
    const ended = [...Array(20)].map(() => world.step(() => false)).find(({ status }) => status.finished_at);
    expect(ended?.status.stimulus).toMatchObject(onEnd);
    expect(ended?.actions).toEqual([]);
    const late = aBuild({}, { onEnd: undefined }).settle();
    expect(late.status.phase).toBe('completed');
    expect(late.decision({ onEnd }).status.stimulus).toBeUndefined();
    expect(late.decision({ onEnd }).actions).toEqual([]);
  });

  it('makes no other decision where no route names the workflow', () => {
    const [routed, plain] = [aBuild().settle(), aBuild({}, { onEnd: undefined }).settle()];
    expect(plain.status.stimulus).toBeUndefined();
    expect(routed.decisions.length - plain.decisions.length).toBe(2);
  });

  it('sends a whole final output that is kept in the output store', () => {
    const size = limits.inlineFinalOutputBytes;
    const input = { text: 'x'.repeat(size) };
    const build = aWorkflow('build')
      .with({ output_template: { text: '{{input.text}}' } })
      .state('end', anEnd());
    const world = new World(build.build(), { onEnd, workflows: [deploy], spec: { workflow: 'build', input } }).settle();
    expect(world.status.final_output_ref).toBeDefined();
    expect(world.linkPlans[0]?.spec.input).toMatchObject({ final_output: { text: input.text } });
  });

  it('waits for a workflow that has not been judged yet', () => {
    const world = aBuild();
    const lookup = { kind: 'not_ready', failure: { reason: 'WorkflowNotReady', message: 'not yet' } } as const;
    const workflows = new Map([['deploy', lookup]]);
    for (let turn = 0; turn < 5; turn += 1) world.accept(world.decision({ workflows }));
    expect(world.status.phase).toBe('completed');
    expect(world.linkPlans).toEqual([]);
    expect(world.decision({ workflows }).wakeAt).toBeLessThanOrEqual(world.now + 2_000);
    expect(world.settle().linkPlans).toHaveLength(1);
  });
});

describe('AMB-189 an end that can start nothing', () => {
  const strict: Partial<WorkflowSpec> = { input_schema: { type: 'object', required: ['commit'] } };
  const picky = aWorkflow('deploy').with(strict).state('go', anEnd()).build();

  it.each<[string, WorldOptions, string, RegExp]>([
    ['names a workflow that is not there', { workflows: [] }, 'WorkflowNotFound', /deploy/],
    ['does not satisfy the input_schema', { workflows: [picky] }, 'InvalidInput', /commit/],
  ])('%s: it says so once and is never tried again', (_title, options, reason, message) => {
    const world = aBuild({}, options).settle();
    expect(world.linkPlans).toEqual([]);
    expect(world.status.stimulus).toMatchObject({ ...onEnd, reason });
    expect(refusals(world)).toEqual([expect.stringMatching(message)]);
    expect(world.step().actions).toEqual([]);
    expect(refusals(world)).toHaveLength(1);
  });

  it('is refused where the name of the new execution is taken', () => {
    const world = aBuild();
    for (let turn = 0; turn < 5; turn += 1) world.step(() => false);
    const taken = `stimulus-${world.status.stimulus?.id}`;
    expect(world.decision({ taken }).status.stimulus).toMatchObject({ reason: 'NameTaken' });
  });

  it('is refused where the API server never takes the execution, and tried again where it may', () => {
    const world = aBuild();
    for (let turn = 0; turn < 5; turn += 1) world.step(() => false);
    const blocked = { reason: 'QuotaExceeded', message: 'exceeded quota' } as const;
    expect(world.decision({ blocked }).actions).toMatchObject([{ kind: 'create_linked' }]);
    const child = `stimulus-${world.status.stimulus?.id}`;
    const refused = world.decision({ blocked: { reason: 'Refused', message: 'no', child } });
    expect(refused.status.stimulus).toMatchObject({ reason: 'Refused', message: 'no' });
    expect(refused.actions).toEqual([]);
  });

  it.each([
    { after: -1, reason: undefined, deleted: false },
    { after: 0, reason: 'StimulusExpired', deleted: true },
    { after: 1, reason: 'StimulusExpired', deleted: true },
  ])('$after ms past its time and the grace it has the reason $reason', ({ after, reason, deleted }) => {
    const world = aBuild({}, { executionTtlSeconds: 60 });
    for (let turn = 0; turn < 5; turn += 1) world.step(() => false);
    world.blocked = { reason: 'QuotaExceeded', message: 'exceeded quota' };
    world.pass(60_000 + engineLimits.stimulusGraceMs + after);
    expect(world.step(() => false).status.stimulus?.reason).toBe(reason);
    world.step();
    expect(world.deleted).toBe(deleted);
  });

  it('is refused where the final output is larger than an input may be', () => {
    const world = aBuild();
    for (let turn = 0; turn < 5; turn += 1) world.step(() => false);
    const status = (bytes: number) => ({
      ...world.status,
      final_output_ref: { path: '', ref: 'a'.repeat(64), bytes, encoding: 'json' as const },
    });
    const at = (bytes: number) => ({ execution: { ...world.execution, status: status(bytes) } });
    expect(world.decision(at(limits.executionInputBytes + 1)).status.stimulus?.reason).toBe('ContentTooLarge');
    // One that may fit is read.
    expect(() => world.decision(at(limits.executionInputBytes))).toThrow(/was never stored/);
  });
});

describe('AMB-189 the id of the stimulus', () => {
  it('is a UUID that follows from execution and route', () => {
    const id = endStimulusId('uid-1', 'workflow:build');
    expect(id).toMatch(new RegExp(uidPattern));
    expect(endStimulusId('uid-1', 'workflow:build')).toBe(id);
    expect(new Set([id, endStimulusId('uid-2', 'workflow:build'), endStimulusId('uid-1', 'workflow:b')]).size).toBe(3);
  });
});
