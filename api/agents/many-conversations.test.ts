import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ModelReply, ModelRequest } from '../../lib/models/models.ts';
import { executionOf, type Replica, replyOf, SharedExecutions, startReplica } from '../../test/agents/replica.ts';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import { roomLimits } from './room.ts';

let nats: TestBus;
beforeAll(async () => void (nats = await startTestBus()));
afterAll(() => nats.stop());

const open: Replica[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((replica) => replica.stop()));
});

/** A model that answers all that wait when the test says so. */
function heldModel(reply: (request: ModelRequest) => ModelReply) {
  const waiting: (() => void)[] = [];
  let most = 0;
  const ask = async (request: ModelRequest): Promise<ModelReply> => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    waiting.push(() => resolve(undefined));
    most = Math.max(most, waiting.length);
    await promise;
    return reply(request);
  };
  return {
    ask,
    get waiting() {
      return waiting.length;
    },
    get most() {
      return most;
    },
    answer: () => waiting.splice(0).forEach((resolve) => resolve()),
  };
}

const patience = { timeout: 60_000, interval: 50 };

describe('many conversations of one tenant on one replica', () => {
  it('all wait for their model at once where they hold little', { timeout: 120_000 }, async () => {
    const shared = new SharedExecutions();
    const model = heldModel(() => replyOf('done'));
    open.push(startReplica({ bus: nats.connect(), shared, ask: model.ask }));
    for (let index = 0; index < 400; index += 1) shared.put(executionOf(`small-${index}`));
    await vi.waitFor(() => expect(model.waiting).toBe(400), patience);
    model.answer();
    await vi.waitFor(() => expect(shared.outcomes).toHaveLength(400), patience);
  });

  it('take turns where they hold much, and all end', { timeout: 120_000 }, async () => {
    const shared = new SharedExecutions();
    const input = 'x'.repeat(700_000);
    const model = heldModel(() => replyOf('done'));
    const poolBytes = 4 * roomLimits.largestBytes;
    open.push(startReplica({ bus: nats.connect(), shared, ask: model.ask, poolBytes }));
    for (let index = 0; index < 20; index += 1) {
      const execution = executionOf(`large-${index}`);
      shared.put({ ...execution, spec: { ...execution.spec, input } });
    }
    await vi.waitFor(() => {
      model.answer();
      expect(shared.outcomes).toHaveLength(20);
    }, patience);
    expect(shared.outcomes.map(({ phase }) => phase)).toEqual(Array(20).fill('completed'));
    // Two bytes a character, held and as the body of a request.
    expect(model.most * input.length * 4).toBeLessThan(poolBytes);
  });
});
