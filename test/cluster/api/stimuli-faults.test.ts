import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workflowExecutions } from '../harness/kinds.ts';
import { pause } from '../harness/wait.ts';
import { type Accepted, type StimuliWorld, startStimuliWorld } from './stimuli-world.ts';

let world: StimuliWorld;

beforeAll(async () => {
  world = await startStimuliWorld(['restarts'], { purpose: 'stimuli-faults', replicas: 2 });
  await world.workflow('build');
  await world.router('routes', { routes: { restarts: 'build' } });
});

afterAll(() => world.close());

/** Final answer to a sender that retries: accepted, or a duplicate of an accepted stimulus. */
interface Delivery {
  readonly key: string;
  readonly status: 200 | 409;
  readonly stimulusId: string;
  readonly executionId?: string;
}

/** Sends until the answer is 200 or 409, to whichever replica answers, as forges do. */
async function deliver(key: string, first: number): Promise<Delivery> {
  const deadline = Date.now() + 90_000;
  for (let attempt = 0; Date.now() < deadline; attempt++) {
    const options = { headers: { 'x-idempotency-key': key }, replica: (first + attempt) % 2 };
    const answer = await world.webhook('restarts', `{"key":"${key}"}`, options).catch(() => undefined);
    if (answer?.status === 200) {
      const { stimulus_id: stimulusId, workflow_execution_id: executionId } = answer.json<Accepted>();
      return { key, status: 200, stimulusId, executionId };
    }
    if (answer?.status === 409) {
      return { key, status: 409, stimulusId: answer.json<{ original_stimulus_id: string }>().original_stimulus_id };
    }
    if (answer !== undefined && answer.status !== 503) throw new Error(`${key}: ${answer.status} ${answer.text}`);
    await pause(Math.min(1_000, Number(answer?.headers['retry-after'] ?? 0.2) * 1_000));
  }
  throw new Error(`${key} was not delivered in time`);
}

/** The executions of the keys, by key. */
async function runsOf(keys: readonly string[]): Promise<Map<string, string[]>> {
  const runs = new Map<string, string[]>(keys.map((key) => [key, []]));
  for (const { spec, metadata } of await world.executions()) {
    runs.get((spec.input as { key?: string }).key ?? '')?.push(metadata.uid ?? '');
  }
  return runs;
}

/** Deliveries that did not run exactly once, and those whose answer named another run. */
async function faultsOf(delivered: readonly Delivery[]): Promise<readonly string[]> {
  const runs = await runsOf(delivered.map(({ key }) => key));
  const miscounted = [...runs]
    .filter(([, ids]) => ids.length !== 1)
    .map(([key, ids]) => `${key} ran ${ids.length} times`);
  const wrong = delivered.filter(
    ({ key, executionId }) => executionId !== undefined && runs.get(key)?.[0] !== executionId,
  );
  return [...miscounted, ...wrong.map(({ key }) => `the sender of ${key} got the id of another run`)];
}

describe('a replica that is killed', () => {
  it.each([1, 2, 3])('during 200 parallel webhooks loses none and doubles none (round %i)', async (round) => {
    const keys = Array.from({ length: 200 }, (_, index) => `kill-${round}-${index}`);
    const deliveries = keys.map((key, index) => deliver(key, index));
    await pause(60 * round);
    await world.replicas[0]?.kill();
    await world.replicas[0]?.start();
    const delivered = await Promise.all(deliveries);
    expect(await faultsOf(delivered)).toEqual([]);
    // An answer stays the same, and names the same stimulus to every sender.
    const again = await Promise.all(delivered.map(({ key }, index) => deliver(key, index)));
    expect(again.map(({ status }) => status)).toEqual(delivered.map(() => 409));
    expect(again.map(({ stimulusId }) => stimulusId)).toEqual(delivered.map(({ stimulusId }) => stimulusId));
    expect(await faultsOf(delivered)).toEqual([]);
  });
});

describe('the event bus', () => {
  it('STIM-36 remembers keys when it is killed and started again', async () => {
    const first = await deliver('remembered', 0);
    await world.nats?.kill();
    await world.nats?.start();
    const second = await deliver('remembered', 1);
    expect(second).toMatchObject({ status: 409, stimulusId: first.stimulusId });
  });

  it('that is away: with a key 503 and Retry-After, without one the stimulus runs, published later', async () => {
    let free = '';
    await world.nats?.kill();
    try {
      const start = Date.now();
      const keyed = await world.webhook('restarts', '{"key":"away"}', { headers: { 'x-idempotency-key': 'away' } });
      expect([keyed.status, keyed.json()['error'], Number(keyed.headers['retry-after']) > 0]).toEqual([
        503,
        'unavailable',
        true,
      ]);
      expect(Date.now() - start).toBeLessThan(5_000);
      const answer = await world.webhook('restarts', '{"key":"free"}');
      expect(answer.status).toBe(200);
      free = answer.json<Accepted>().stimulus_id;
    } finally {
      await world.nats?.start();
    }
    const toldOfFree = async () => (await world.events(0)).filter(({ subject }) => subject === free);
    await expect
      .poll(async () => (await toldOfFree()).map(({ type }) => type), { timeout: 15_000 })
      .toEqual(['StimulusReceived', 'StimulusClassified']);
    expect((await deliver('away', 0)).status).toBe(200);
    expect((await runsOf(['away', 'free'])).get('away')).toHaveLength(1);
  });

  it('that is up and down during 200 parallel webhooks loses none and doubles none', async () => {
    const keys = Array.from({ length: 200 }, (_, index) => `bus-${index}`);
    const deliveries = keys.map((key, index) => deliver(key, index));
    await pause(50);
    await world.nats?.kill();
    await pause(300);
    await world.nats?.start();
    expect(await faultsOf(await Promise.all(deliveries))).toEqual([]);
  });
});

describe('an execution that was deleted', () => {
  it('does not run again within the day', async () => {
    const first = await deliver('deleted', 0);
    const name = `stimulus-${first.stimulusId}`;
    await world.kube.delete(workflowExecutions, { namespace: world.tenant, name });
    expect(await deliver('deleted', 1)).toMatchObject({ status: 409, stimulusId: first.stimulusId });
  });
});
