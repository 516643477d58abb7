import { describe, expect, it } from 'vitest';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { BusEvent } from '../../lib/bus/index.ts';
import { after, anExecution, begin } from '../../test/builders/execution-builder.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createFactSink } from '../runtime/facts.ts';
import { endStimulusFacts } from './end-stimulus-facts.ts';
import type { LinkedFact } from './engine/facts.ts';

/** Seconds after `begin`. */
function setUp(now = 60) {
  const raised: BusEvent[] = [];
  const clock = createManualClock(begin + now * 1_000);
  const tenants = { tenantOf: () => 'acme' };
  const facts = createFactSink({ events: { raise: (event) => void raised.push(event) }, clock, tenants });
  const tell = (execution: WorkflowExecution, linked?: LinkedFact): void => {
    for (const fact of endStimulusFacts(execution, linked)) facts.raise(fact);
  };
  return { tell, raised };
}

describe('AMB-189 the stimulus that an end became', () => {
  const stimulus = { id: 'stim-1', source: 'workflow:demo', workflow: 'deploy' };
  const ended = (fields: object) =>
    anExecution()
      .status({ stimulus: { ...stimulus, ...fields } })
      .ended('completed', 59)
      .build();
  const linked = { name: 'stimulus-stim-1', uid: 'linked-uid', workflowUid: 'deploy-uid', createdAt: after(60) };
  const stimulusEvents = (raised: readonly BusEvent[]) => raised.filter(({ topic }) => topic === 'stimulus');

  it('is raised as any stimulus is, once, when it is known what it started', () => {
    const { tell, raised } = setUp(61);
    tell(ended({}));
    expect(stimulusEvents(raised)).toEqual([]);
    const { name, uid } = linked;
    for (let i = 0; i < 3; i += 1) tell(ended({ execution: { name, uid } }), linked);
    const envelope = { topic: 'stimulus', source: 'controllers', subject: 'stim-1', tenant: 'acme', time: after(60) };
    expect(stimulusEvents(raised)).toEqual([
      {
        ...envelope,
        id: 'stim-1/StimulusReceived',
        type: 'StimulusReceived',
        data: { stimulus_id: 'stim-1', source: 'workflow:demo', received_at: after(59) },
      },
      {
        ...envelope,
        id: 'stim-1/StimulusClassified',
        type: 'StimulusClassified',
        data: { stimulus_id: 'stim-1', workflow_id: 'deploy-uid', confidence: 1, mode: 'Deterministic' },
      },
    ]);
  });

  it('names the workflow as the route does where nothing could be started', () => {
    const { tell, raised } = setUp();
    tell(ended({ reason: 'WorkflowNotFound', message: 'gone' }));
    expect(stimulusEvents(raised).map(({ data }) => data.workflow_id)).toEqual([undefined, 'deploy']);
  });

  it.each(['TooManyLinks', 'DescendantsExceeded'])('is not raised where it was never sent: %s', (reason) => {
    const { tell, raised } = setUp();
    tell(ended({ reason }));
    expect(stimulusEvents(raised)).toEqual([]);
  });
});
