import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { EventBus } from '../../../lib/bus/index.ts';
import { AppError } from '../../../lib/errors.ts';
import { startTestBus, type TestBus } from '../../../test/nats/test-bus.ts';
import { createDriverLooks, silentLooks } from './driver-address.ts';
import { askedAtOnce, createLeftConversations, createPartsByNamespace } from './left-conversations.ts';

const executions = (namespace: string, count: number): AgentExecution[] =>
  Array.from(
    { length: count },
    (_, at) => ({ metadata: { namespace, name: `${at}`, uid: `${namespace}-${at}` } }) as AgentExecution,
  );
const idsOf = (all: readonly AgentExecution[]) => all.map(({ metadata }) => metadata.uid);

describe('parts of the objects of many namespaces', () => {
  it('take as many of each, and all of those that have few, and come to each object', () => {
    const parts = createPartsByNamespace<AgentExecution>();
    const all = [...executions('mallory', 1_000), ...executions('ada', 3), ...executions('grace', 60)];
    const seen = new Set<string | undefined>();
    for (let turn = 0; turn < 25; turn += 1) {
      const part = idsOf(parts.next(all, 100));
      expect(new Set(part).size).toBe(part.length);
      expect(part.length).toBeLessThanOrEqual(100);
      expect(part.filter((id) => id?.startsWith('ada'))).toHaveLength(3);
      expect(part.filter((id) => id?.startsWith('grace')).length).toBeGreaterThanOrEqual(48);
      for (const id of part) seen.add(id);
    }
    expect(seen.size).toBe(all.length);
    expect(parts.next([], 100)).toEqual([]);
  });
});

/** Each scan asks all replicas for half a second and begins 5 s behind the one before. */
const scanMs = 5_500;

describe('conversations of a driver that is silent', () => {
  it.each([askedAtOnce - 1, askedAtOnce, askedAtOnce + 1, 5_000])('are all found where there are %i', async (many) => {
    let now = 0;
    const silent = () => Promise.reject(new AppError('unavailable', 'silent', { reason: 'RequestTimeout' }));
    const { look } = createDriverLooks({ bus: { request: silent }, clock: { steadyMs: () => now } });
    const bus = { requestAll: async () => [], serve: () => expect.unreachable() };
    const left = createLeftConversations({ bus, isDriven: () => false });
    const found = new Set<string>();
    const all = executions('acme', many);
    const scans = silentLooks * Math.ceil(many / askedAtOnce);
    for (let scan = 0; scan < scans; scan += 1, now += scanMs) {
      const open = all.filter(({ metadata }) => !found.has(metadata.uid ?? ''));
      for (const { metadata } of await left.among(open))
        if ((await look(metadata.uid ?? '')) === 'left') found.add(metadata.uid ?? '');
    }
    expect(found.size).toBe(many);
  });
});

describe('conversations that no replica drives', () => {
  let nats: TestBus;
  beforeAll(async () => void (nats = await startTestBus()), 60_000);
  afterAll(() => nats.stop());

  it('are found by one question, however many are driven', async () => {
    const [asking, other] = [await nats.connected(), await nats.connected()];
    let questions = 0;
    const bus: Pick<EventBus, 'serve' | 'requestAll'> = {
      serve: (...args) => asking.serve(...args),
      requestAll: (...args) => {
        questions += 1;
        return asking.requestAll(...args);
      },
    };
    const all = [...executions('mallory', 10_000), ...executions('ada', 2)];
    const holder = createLeftConversations({ bus: other, isDriven: (uid) => uid !== 'ada-1' }).serve();
    await holder.ready;
    const left = createLeftConversations({ bus, isDriven: () => false });
    for (let turn = 1; turn <= 3; turn += 1) {
      expect(idsOf(await left.among(all))).toEqual(['ada-1']);
      expect(questions).toBe(turn);
    }
    await holder.close(0);
    expect(await left.among(all)).toHaveLength(askedAtOnce);
    expect(await left.among([])).toEqual([]);
    expect(questions).toBe(4);
  });
});
