import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { anEnd, aQuestion, aWorkflow, busybox } from '../../test/builders/workflow-builder.ts';
import type { SimulatedAnswer, SimulatedQuestion } from './answer.ts';
import { createCoverage } from './coverage.ts';
import { givenAnswers } from './given-answers.ts';
import { randomAnswers, seeded } from './random-answers.ts';
import { simulate, Unanswered } from './simulation.ts';

const examplesDir = join(import.meta.dirname, '../../examples');
const example = (file: string): Workflow[] =>
  parseAllDocuments(readFileSync(join(examplesDir, file), 'utf8')).map((document) => document.toJS() as Workflow);

const aContainer = (...command: string[]) => ({ kind: 'ContainerRun', image: busybox, command }) as const;

const run = (
  workflow: Workflow,
  answer: (question: SimulatedQuestion) => SimulatedAnswer | undefined,
  others: Workflow[] = [],
) => simulate({ workflow, others, start: { input: { name: 'Ada' } }, answer });
const states = ({ status }: ReturnType<typeof run>): string[] => (status.history ?? []).map(({ state }) => state);

const looping = aWorkflow('loop')
  .state('build', {
    ...aContainer('make', 'it'),
    env: { WHO: '{{input.name}}' },
    transitions: [
      { condition: 'exit_code', value: '3', target: 'ask' },
      { condition: 'on_success', target: 'end' },
      { condition: 'on_failure', target: 'build', feedback: 'again' },
    ],
  })
  .state('ask', aQuestion('{{trim build.output.stdout}}?', { yes: 'end', no: 'never' }))
  .state('never', anEnd())
  .state('end', anEnd())
  .build();

describe('a simulation', () => {
  it('takes the path that the answers lead to, and renders what each state is given', () => {
    const codes = [1, 3];
    const answered = run(looping, (question) =>
      question.kind === 'command' ? { exit_code: codes.shift() ?? 0, stdout: 'ship\n' } : { response: 'yes' },
    );
    expect(states(answered)).toEqual(['build', 'build', 'ask', 'end']);
    expect(answered.status).toMatchObject({ phase: 'completed' });
    expect(answered.renderings).toEqual([
      { state: 'build', visit: 1, step: undefined, command: ['make', 'it'], env: { WHO: 'Ada' } },
      { state: 'build', visit: 2, step: undefined, command: ['make', 'it'], env: { WHO: 'Ada' } },
      { state: 'ask', visit: 1, prompt: 'ship?' },
    ]);
  });

  it('ends a command without an answer with 0, and refuses to answer for a person', () => {
    expect(states(run(looping, () => undefined))).toEqual(['build', 'end']);
    expect(() => run(looping, ({ kind }) => (kind === 'command' ? { exit_code: 3 } : undefined))).toThrow(Unanswered);
  });

  it('lets time pass at once: a person who does not answer, and the delays between attempts', () => {
    const late = aWorkflow('late')
      .state('try', {
        ...aContainer('x'),
        retry: { max_attempts: 3, backoff: '1h' },
        timeout: '9h',
        transitions: [{ target: 'ask' }],
      })
      .state('ask', { ...aQuestion('?', { yes: 'end', no: 'end' }), timeout: '24h', default_response: 'no' })
      .state('end', anEnd())
      .build();
    const { status } = run(late, (question) => (question.kind === 'command' ? { exit_code: 1 } : undefined));
    expect(status).toMatchObject({
      phase: 'completed',
      history: [{ attempts: 3 }, { signal: { response: 'no' } }, {}],
    });
  });

  it('runs a child whose workflow is among the files, unless it is answered for', () => {
    const child = aWorkflow('child')
      .with({ output_template: { said: '{{input.word}}' } })
      .state('end', anEnd())
      .build();
    const parent = aWorkflow('parent')
      .with({ output_template: { got: '{{json call.result}}' } })
      .state('call', {
        kind: 'Subworkflow',
        workflow_id: 'child',
        input: '{"word":"hi"}',
        transitions: [{ target: 'end' }],
      })
      .state('end', anEnd())
      .build();
    expect(run(parent, () => undefined, [child]).finalOutput).toEqual({ got: { said: 'hi' } });
    expect(run(parent, () => ({ result: 7 }), [child]).finalOutput).toEqual({ got: 7 });
    expect(run(parent, () => ({ status: 'failed' })).status.history?.[0]).toMatchObject({ status: 'failed' });
  });

  it('AMB-169 shows a parent the failure of a child whose last state failed', () => {
    const child = aWorkflow('child')
      .state('only', { ...aContainer('false'), transitions: [] })
      .build();
    const parent = aWorkflow('parent')
      .state('call', {
        kind: 'Subworkflow',
        workflow_id: 'child',
        transitions: [
          { condition: 'on_success', target: 'good' },
          { condition: 'on_failure', target: 'bad' },
        ],
      })
      .state('good', anEnd())
      .state('bad', anEnd())
      .build();
    const after = (exitCode: number) =>
      run(parent, ({ kind }) => (kind === 'command' ? { exit_code: exitCode } : undefined), [child]);
    expect(states(after(0))).toEqual(['call', 'good']);
    expect(states(after(1))).toEqual(['call', 'bad']);
    expect(after(1).status.history?.[0]).toMatchObject({ status: 'failed' });
  });

  it('puts outputs that a status does not hold into the rendered output whole', () => {
    const workflow = aWorkflow('large')
      .with({ output_template: { all: '{{print.output.stdout}}' } })
      .state('print', { ...aContainer('x'), transitions: [{ target: 'end' }] })
      .state('end', anEnd())
      .build();
    const stdout = 'x'.repeat(400_000);
    expect(run(workflow, () => ({ stdout })).finalOutput).toEqual({ all: stdout });
  });

  describe('of agents', () => {
    const review = aWorkflow('review')
      .state('write', {
        kind: 'Agent',
        agent: 'writer',
        intent: 'be brief',
        input: '{{input.name}} {{state.feedback}}',
        transitions: [{ target: 'panel' }],
      })
      .state('panel', {
        kind: 'ParallelAgents',
        agents: [{ agent: 'one', input: '{{write.output}}' }, { agent: 'two' }],
        consensus: { strategy: 'weighted_average' },
        transitions: [
          { condition: 'all_approved', target: 'end' },
          { target: 'write', feedback: 'was {{panel.consensus.score}}' },
        ],
      })
      .state('end', anEnd())
      .build();

    it('lets them complete and judges approve, unless they are answered for', () => {
      expect(states(run(review, () => undefined))).toEqual(['write', 'panel', 'end']);
    });

    it('takes the path that scores lead to, and renders what each agent is given', () => {
      const answer = givenAnswers(review.spec, { 'panel/0': [{ score: 0.5 }, { score: 0.9 }] }, ['write.output=draft']);
      const { renderings, ...result } = run(review, answer);
      expect(states(result as never)).toEqual(['write', 'panel', 'write', 'panel', 'end']);
      expect(renderings).toContainEqual({ state: 'panel', visit: 1, step: '0 (one)', input: 'draft' });
      expect(renderings).toContainEqual({ state: 'write', visit: 2, intent: 'be brief', input: 'Ada was 0.75' });
    });

    it.each([
      ['write.status=failed', 'write', 'AgentFailed'],
      ['panel/0.output=no verdict', 'panel', undefined],
    ])('%s: state %s ends with %s', (flag, state, reason) => {
      const once = { ...review.spec.states, panel: { ...review.spec.states['panel'], transitions: [] } };
      const workflow = { ...review, spec: { ...review.spec, states: once } } as Workflow;
      const { status } = run(workflow, givenAnswers(workflow.spec, undefined, [flag]));
      expect(status.history?.find((visit) => visit.state === state)?.reason).toBe(reason);
    });

    it.each(['write.score=1.1', 'write.reasoning=x', 'panel/2.score=1', 'panel.score=1', 'panel/0.exit_code=1'])(
      'refuses the answer %s',
      (flag) => {
        expect(() => givenAnswers(review.spec, undefined, [flag])).toThrow(/cannot be|takes an answer/);
      },
    );

    it('reaches every rule at random', () => {
      const coverage = createCoverage(review.spec);
      const random = seeded(3);
      for (let count = 0; count < 100; count++) {
        coverage.add(
          run(
            review,
            randomAnswers(review.spec, random, () => undefined),
          ).status,
        );
      }
      expect([coverage.unreachedStates(), coverage.unmatchedRules()]).toEqual([[], []]);
    });
  });

  it.each([
    'hello.yaml',
    'retry.yaml',
    'feedback-loop.yaml',
    'fan-out.yaml',
    'build-and-test.yaml',
    'child-workflow.yaml',
  ])('of examples/%s comes to an end, whatever the answers are', (file) => {
    const workflows = example(file).filter(({ kind }) => kind === 'Workflow');
    const [workflow] = workflows;
    if (workflow === undefined) throw new Error(`${file} holds no workflow`);
    const random = seeded(7);
    for (let count = 0; count < 50; count++) {
      const answer = randomAnswers(workflow.spec, random, () => undefined);
      const { status } = simulate({ workflow, others: workflows, start: {}, answer });
      expect(status.finished_at).toBeDefined();
    }
  });
});

describe('what runs have reached', () => {
  it('names the states that were not entered, and the rules of entered states that did not match', () => {
    const coverage = createCoverage(looping.spec);
    coverage.add(run(looping, () => undefined).status);
    expect(coverage.unreachedStates()).toEqual(['ask', 'never']);
    expect(coverage.unmatchedRules()).toEqual([
      { state: 'build', rule: 0, condition: 'exit_code', target: 'ask' },
      { state: 'build', rule: 2, condition: 'on_failure', target: 'build' },
    ]);
    const random = seeded(1);
    for (let count = 0; count < 200; count++)
      coverage.add(
        run(
          looping,
          randomAnswers(looping.spec, random, () => undefined),
        ).status,
      );
    expect([coverage.unreachedStates(), coverage.unmatchedRules()]).toEqual([[], []]);
    expect([...coverage.ends.values()].reduce((sum, count) => sum + count, 0)).toBe(201);
  });
});

describe('answers', () => {
  const ask = { kind: 'person', state: 'ask', visit: 1, responses: [], hasTimeout: false } as const;
  const build = { kind: 'command', state: 'build', visit: 1, attempt: 1 } as const;

  it('of flags hold for one visit after the other, and the last one for the rest', () => {
    const answer = givenAnswers(looping.spec, undefined, [
      'build.exit_code=1',
      'build.exit_code=3',
      'build.stdout=a',
      'ask=yes',
    ]);
    expect([answer(build), answer(build), answer(build), answer(ask)]).toEqual([
      { exit_code: 1, stdout: 'a' },
      { exit_code: 3, stdout: 'a' },
      { exit_code: 3, stdout: 'a' },
      { response: 'yes' },
    ]);
  });

  it('of a file are texts, maps or lists of these, and flags go before them', () => {
    const answer = givenAnswers(looping.spec, { ask: ['no', 'yes'], build: { exit_code: 3 } }, ['build.exit_code=2']);
    expect([answer(ask), answer(ask), answer(build)]).toEqual([
      { response: 'no' },
      { response: 'yes' },
      { exit_code: 2 },
    ]);
  });

  it.each([
    ['nonsense', /not STATE=RESPONSE/],
    ['bild.exit_code=1', /'bild' takes an answer/],
    ['build=1', /names no field/],
    ['build.exit_code=256', /cannot be/],
    ['build.exit_code=one', /cannot be/],
    ['build.response=x', /names no field/],
    ['ask.exit_code=1', /cannot be/],
  ])('%s is refused', (flag, message) => {
    expect(() => givenAnswers(looping.spec, undefined, [flag])).toThrow(message);
  });

  it.each([
    [['x'], /holds no map/],
    [{ build: 1 }, /is no map/],
    [{ ask: { exit_code: 1 } }, /cannot be/],
  ])('of the file %j are refused', (file, message) => {
    expect(() => givenAnswers(looping.spec, file, [])).toThrow(message);
  });
});
