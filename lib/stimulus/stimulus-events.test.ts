import { describe, expect, it } from 'vitest';
import type { Stimulus } from '../../lib/stimulus/stimulus.ts';
import { classificationFailed, stimulusClassified, stimulusReceived, stimulusRejected } from './stimulus-events.ts';

const stimulus: Stimulus = {
  id: 's1',
  source: { kind: 'Webhook', name: 'my-ci' },
  content: { secret: 'payload' },
  idempotencyKey: 'k',
  headers: { host: 'h' },
  receivedAt: '2026-01-02T03:04:05.000Z',
};
const occasion = { stimulusId: 's1', tenant: 'acme', time: '2026-01-02T03:04:06.000Z' };
const envelope = (type: string, data: object) => ({
  id: `s1/${type}`,
  topic: 'stimulus',
  source: 'api',
  type,
  subject: 's1',
  tenant: 'acme',
  time: '2026-01-02T03:04:06.000Z',
  data,
});

describe('the events of a stimulus', () => {
  it('ROUTE-18 ROUTE-19 StimulusReceived tells id, source and time of arrival, and nothing of the content', () => {
    expect(stimulusReceived(occasion, stimulus)).toEqual(
      envelope('StimulusReceived', { stimulus_id: 's1', source: 'my-ci', received_at: '2026-01-02T03:04:05.000Z' }),
    );
  });

  it('ROUTE-01 ROUTE-20 StimulusClassified tells the workflow, how sure, and who chose', () => {
    const routed = { kind: 'routed', workflow: 'build', confidence: 1, mode: 'Deterministic' } as const;
    expect(stimulusClassified(occasion, 'uid', routed)).toEqual(
      envelope('StimulusClassified', { stimulus_id: 's1', workflow_id: 'uid', confidence: 1, mode: 'Deterministic' }),
    );
  });

  it.each(['LowConfidence', 'NoRouterConfigured', 'HmacInvalid', 'IdempotentDuplicate'] as const)(
    'ROUTE-07 ROUTE-21 StimulusRejected tells the reason %s',
    (reason) => {
      expect(stimulusRejected(occasion, reason)).toEqual(envelope('StimulusRejected', { stimulus_id: 's1', reason }));
    },
  );

  it('ROUTE-22 ClassificationFailed tells the error', () => {
    expect(classificationFailed(occasion, 'timed out')).toEqual(
      envelope('ClassificationFailed', { stimulus_id: 's1', error: 'timed out' }),
    );
  });
});
