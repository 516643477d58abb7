import { describe, expect, it } from 'vitest';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { BusEvent } from '../../lib/bus/index.ts';
import { AppError } from '../../lib/errors.ts';
import { KubeError } from '../../lib/kube/index.ts';
import type { Stimulus } from '../../lib/stimulus/stimulus.ts';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import type { ClassifyRequest } from './classifier.ts';
import type { Classification, Routing } from './decide-route.ts';
import { routeStimulus } from './route-stimulus.ts';

const stimulus: Stimulus = {
  id: 's1',
  source: { kind: 'HttpApi', name: 'tickets' },
  content: { text: 'Help!' },
  headers: { 'x-lang': 'en' },
  receivedAt: '2026-01-01T00:00:00.000Z',
};

const workflow: Workflow = {
  ...aWorkflow('build').state('done', anEnd()).build(),
  metadata: { name: 'build', uid: 'uid-of-build' },
};

type Answer = Classification | Error;

/** Routes one stimulus, and tells what came of it, which events were raised, and what the router agent was asked. */
async function route(routing: Partial<Routing>, answer?: Answer) {
  const raised: BusEvent[] = [];
  const asked: ClassifyRequest[] = [];
  const classifier = {
    async classify(request: ClassifyRequest): Promise<Classification> {
      asked.push(request);
      if (answer === undefined || answer instanceof Error) throw answer ?? new Error('not asked for');
      return answer;
    },
  };
  const outcome = routeStimulus(
    {
      clock: createManualClock(),
      events: { raise: (event) => void raised.push(event) },
      workflows: { find: async (_viewer, name) => (name === 'build' ? workflow : undefined) },
      ...(answer === undefined ? {} : { classifier }),
    },
    stimulus,
    { tenant: 'acme', namespace: 'tenant-acme', routing: { confidenceThreshold: 0.7, ...routing } },
  );
  const refusal: unknown = await outcome.then(
    () => undefined,
    (error: unknown) => error,
  );
  const result = await outcome.then(
    (chosen) => chosen.workflow.metadata.uid,
    (error: { outcome?: string }) => error.outcome,
  );
  return { result, refusal, asked, events: raised.map(({ type, data }) => [type, data]) };
}

const agent = { routerAgent: 'triage' };
const classified = (confidence: number, mode: string, workflow_id = 'uid-of-build') => [
  [
    'StimulusClassified',
    { stimulus_id: 's1', workflow_id, confidence, mode, ...(mode === 'LlmClassified' ? { source: 'tickets' } : {}) },
  ],
];
const failed = (error: string) => [['ClassificationFailed', { stimulus_id: 's1', error }]];
const rejected = (reason: string) => [['StimulusRejected', { stimulus_id: 's1', reason }]];

describe('routeStimulus', () => {
  it.each<[title: string, routing: Partial<Routing>, answer: Answer | undefined, result: string, events: unknown[]]>([
    ['ROUTE-11 by its route', { workflow: 'build' }, undefined, 'uid-of-build', classified(1, 'Deterministic')],
    [
      'ROUTE-14 by the router agent, as sure as the threshold',
      agent,
      { workflow: 'build', confidence: 0.7 },
      'uid-of-build',
      classified(0.7, 'LlmClassified'),
    ],
    [
      'ROUTE-15 STIM-32 nowhere by a router agent that is less sure',
      agent,
      { workflow: 'build', confidence: 0.69 },
      'classification_failed',
      rejected('LowConfidence'),
    ],
    [
      'ROUTE-16 nowhere by a router agent that fails',
      agent,
      new AppError('terminal', 'timed out', { reason: 'ClassificationFailed' }),
      'classification_failed',
      failed('timed out'),
    ],
    [
      'ROUTE-16 nowhere by a router agent that gives no confidence',
      agent,
      { workflow: 'build', confidence: 2 },
      'classification_failed',
      failed('the router agent gave no confidence between 0 and 1'),
    ],
    [
      'AMB-008 nowhere where no caller could ask the router agent',
      agent,
      undefined,
      'classification_failed',
      failed('router agents cannot run in this version'),
    ],
    ['ROUTE-13 nowhere without both', {}, undefined, 'no_router_configured', rejected('NoRouterConfigured')],
    [
      'STIM-34 ROUTE-11 to a missing workflow, which is reported',
      { workflow: 'gone' },
      undefined,
      'workflow_error',
      classified(1, 'Deterministic', 'gone'),
    ],
    [
      'ROUTE-16 nowhere by a router agent that made a workflow up',
      agent,
      { workflow: 'made-up', confidence: 1 },
      'classification_failed',
      failed('the router agent chose a workflow that is not there: made-up'),
    ],
  ])('is routed %s', async (_title, routing, answer, ...want) => {
    const { result, events } = await route(routing, answer);
    expect([result, events]).toEqual(want);
  });

  it.each<[title: string, status: number, message: string]>([
    ['a server in trouble', 503, 'etcd is away'],
    ['an overloaded server', 429, 'too many requests'],
    ['a refused identity', 401, 'Unauthorized'],
    ['a server that has just begun', 403, 'x is forbidden: User "api" cannot create resource "x"'],
    ['a conflict', 409, 'Operation cannot be fulfilled on x'],
  ])('AMB-008 takes trouble of ours for no answer of the router agent: %s', async (_title, status, message) => {
    const request = { verb: 'create', resource: 'agentexecutions.windlass.dev', object: 'tenant-acme/route-s1' };
    const { refusal, result, events } = await route(agent, new KubeError(status, { message }, request));
    expect([result, events]).toEqual([undefined, []]);
    expect(refusal).toMatchObject({ code: 'unavailable', reason: 'RoutingInterrupted' });
    expect(refusal).toHaveProperty('message', 'the router agent cannot be asked at the moment; try again');
  });

  it('ROUTE-12 ROUTE-17 gives the router agent content and headers', async () => {
    const { asked } = await route(agent, { workflow: 'build', confidence: 1 });
    expect(asked).toEqual([{ stimulus, tenant: 'acme', namespace: 'tenant-acme', routerAgent: 'triage' }]);
  });

  it('ROUTE-11 asks no router agent where there is a route', async () => {
    const { asked } = await route({ ...agent, workflow: 'build' }, { workflow: 'other', confidence: 1 });
    expect(asked).toEqual([]);
  });
});
