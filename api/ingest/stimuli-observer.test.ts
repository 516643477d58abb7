import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../lib/errors.ts';
import { KubeError } from '../../lib/kube/index.ts';
import type { Submission } from './ingest.ts';
import { IngestError } from './ingest-error.ts';
import { createStimuliMetrics, observeIngest } from './stimuli-observer.ts';

const submission: Submission = { source: { kind: 'HttpApi', name: 'x' }, content: 1, headers: {}, receivedAt: 0 };
const answered = (status: number) => new KubeError(status, {}, { verb: 'list', resource: 'workflows' });

describe('the counter of stimuli', () => {
  it.each<[transport: string, more: Partial<Submission>]>([
    ['HttpApi', {}],
    ['Grpc', { transport: 'Grpc' }],
    ['Stdin', { source: { kind: 'Stdin', name: 'x' } }],
  ])('has those that came through %s apart', async (transport, more) => {
    const registry = new Registry();
    const accepted = { stimulusId: 's', workflowExecutionId: 'e' };
    await observeIngest(async () => accepted, createStimuliMetrics(registry))({ ...submission, ...more });
    expect(await registry.metrics()).toContain(`windlass_stimuli_total{transport="${transport}",outcome="routed"} 1`);
  });

  it.each<[outcome: string, error: Error]>([
    ['workflow_error', new IngestError('workflow_error', 'no')],
    ['too_large', new AppError('limit_exceeded', 'no')],
    ['unavailable', new AppError('unavailable', 'no')],
    ['unavailable', new AppError('timeout', 'no answer')],
    ['unavailable', answered(504)],
    ['unavailable', new AppError('cancelled', 'the sender is gone')],
    ['failed', answered(403)],
    ['failed', new TypeError('bug')],
  ])('counts as %s what ended so', async (outcome, error) => {
    const outcomes: string[] = [];
    const ingest = observeIngest(() => Promise.reject(error), {
      ended: (_, ended) => outcomes.push(ended),
      leftOut: () => undefined,
    });
    await expect(ingest(submission)).rejects.toBe(error);
    expect(outcomes).toEqual([outcome]);
  });

  it('AMB-181 counts the rejections that no event tells of', async () => {
    const registry = new Registry();
    const metrics = createStimuliMetrics(registry);
    for (let i = 0; i < 3; i++) metrics.leftOut();
    expect(await registry.metrics()).toContain('windlass_stimulus_rejections_left_out_total 3');
  });
});
