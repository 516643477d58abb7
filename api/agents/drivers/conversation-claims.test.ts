import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { annotations } from '../../../crds/labels.ts';
import { systemClock } from '../../../lib/clock.ts';
import { ModelError, type ModelReply } from '../../../lib/models/models.ts';
import { executionOf, type Replica, replyOf, SharedExecutions, startReplica } from '../../../test/agents/replica.ts';
import { startTestBus, type TestBus } from '../../../test/nats/test-bus.ts';

/** Two installations that follow one cluster, each with a NATS server of its own. */
let own: TestBus;
let other: TestBus;
beforeAll(async () => void ([own, other] = await Promise.all([startTestBus(), startTestBus()])), 300_000);
afterAll(() => Promise.all([own?.stop(), other?.stop()]));

const open: Replica[] = [];
afterEach(async () => void (await Promise.all(open.splice(0).map((replica) => replica.stop()))));

const start = (options: Parameters<typeof startReplica>[0]): void => void open.push(startReplica(options));
const outcomes = (shared: SharedExecutions) =>
  vi.waitFor(() => expect(shared.outcomes).toHaveLength(1), { timeout: 30_000, interval: 20 });
const begun = (msAgo: number) => ({ startedAt: new Date(Date.now() - msAgo).toISOString() });
const unknownAlias = async (): Promise<ModelReply> => {
  throw new ModelError('UnknownAlias', 'the model alias default is not defined; add it to spec.llm_providers');
};
const claimOf = (shared: SharedExecutions, uid: string) =>
  shared.objects.get(uid)?.metadata.annotations?.[annotations.drivenBy];

describe('an execution', () => {
  it('is left by an API without its model to the installation that has it, whichever looks first', async () => {
    const shared = new SharedExecutions();
    const ask = vi.fn<() => Promise<ModelReply>>(async () => replyOf('done'));
    start({ bus: other.connect(), shared, ask: unknownAlias, isModelKnown: false });
    shared.put(executionOf('left', begun(0)));
    await systemClock.sleep(500);
    expect([shared.outcomes, claimOf(shared, 'left')]).toEqual([[], undefined]);
    start({ bus: own.connect(), shared, ask });
    await outcomes(shared);
    expect(shared.outcomes[0]).toMatchObject({ phase: 'completed', output: 'done' });
    expect(claimOf(shared, 'left')).toBe(await own.connect().identity());
  });

  it('is driven by exactly one of two installations that have its model', async () => {
    const shared = new SharedExecutions();
    const ask = vi.fn<() => Promise<ModelReply>>(async () => replyOf('done'));
    for (const bus of [own.connect(), other.connect(), own.connect(), other.connect()]) start({ bus, shared, ask });
    shared.put(executionOf('both', begun(0)));
    await outcomes(shared);
    expect(ask).toHaveBeenCalledTimes(1);
  });

  it('is never failed by another installation once one has it, however long it takes', async () => {
    const shared = new SharedExecutions();
    const identity = await own.connect().identity();
    const execution = executionOf('slow', begun(3_600_000));
    const metadata = { ...execution.metadata, annotations: { [annotations.drivenBy]: identity } };
    start({ bus: other.connect(), shared, ask: unknownAlias, isModelKnown: false });
    shared.put({ ...execution, metadata });
    await systemClock.sleep(500);
    expect(shared.outcomes).toEqual([]);
    start({ bus: own.connect(), shared, ask: async () => replyOf('late') });
    await outcomes(shared);
    expect(shared.outcomes[0]).toMatchObject({ phase: 'completed', output: 'late' });
  });

  it('of a model that no installation has fails with UnknownAlias half a minute after its start', async () => {
    const shared = new SharedExecutions();
    start({ bus: own.connect(), shared, ask: unknownAlias, isModelKnown: false });
    shared.put(executionOf('nobody', begun(30_000)));
    await outcomes(shared);
    expect(shared.outcomes[0]).toMatchObject({ phase: 'failed', reason: 'UnknownAlias' });
  });
});
