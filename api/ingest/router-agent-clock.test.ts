import { expect, it } from 'vitest';
import { annotations } from '../../crds/labels.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createRouterAgent } from './router-agent.ts';

it.each([-600_000, 0, 600_000])(
  'ROUTE-17 waits 25 s for a router agent, where the time of day is set by %i ms',
  async (ms) => {
    const clock = createManualClock();
    const execution = {
      metadata: { name: 'route-s1', uid: 'e1', annotations: { [annotations.startedBy]: 'stimulus:s1' } },
      spec: {},
      status: { phase: 'running' },
    };
    const kube = { create: async () => execution, get: async () => execution, mergePatch: async () => undefined };
    const cluster = {
      agents: { locate: async () => ({ metadata: { name: 'router', uid: 'u' } }) },
      agentExecutions: { remember: () => undefined, whole: async () => execution },
      workflows: { list: () => [] },
    };
    const classifier = createRouterAgent({ clock, kube, cluster, current: () => execution } as never);
    const stimulus = { id: 's1', source: { kind: 'HttpApi', name: 'x' }, content: {}, headers: {}, receivedAt: '' };
    const request = { stimulus, tenant: 'acme', namespace: 'a', routerAgent: 'router' };
    let end = '';
    const asked = classifier.classify(request as never).catch((error: unknown) => void (end = String(error)));
    await clock.advance(1_000);
    clock.step(ms);
    await clock.advance(23_900);
    expect(end).toBe('');
    await clock.advance(200);
    expect(end).toContain('did not answer within 25 s');
    await asked;
  },
);
