import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { workflowExecutions } from '../harness/kinds.ts';
import { waitForView } from '../harness/wait.ts';
import type { ApiReplica } from './harness/index.ts';
import { type LogLine, logOf, waitForLog } from './replica-log.ts';
import { type Accepted, type StimuliWorld, startStimuliWorld } from './stimuli-world.ts';

let world: StimuliWorld;

beforeAll(async () => {
  world = await startStimuliWorld([], {
    purpose: 'sensors',
    env: { WINDLASS_STDIN_SENSOR: 'true' },
    envFor: (tenant) => ({ WINDLASS_STDIN_TENANT: tenant }),
  });
  await world.workflow('answer');
  await world.router('routes', { routes: { stdin: 'answer', tickets: 'answer' } });
});
afterAll(() => world?.close());

const replica = (): ApiReplica => {
  const [first] = world.replicas;
  if (first === undefined) throw new Error('there is no replica');
  return first;
};

const line = (content: unknown, more: object = {}): string => `${JSON.stringify({ content, ...more })}\n`;

const inputOf = ({ spec }: WorkflowExecution): string => String((spec.input as { content?: unknown }).content);

/** Inputs of all executions of the tenant, once these are among them. */
const contents = (...wanted: readonly string[]): Promise<string[]> =>
  waitForView(world.kube, { resource: workflowExecutions, namespace: world.tenant }, (view) => {
    const found = [...view.values()].map(inputOf);
    return wanted.every((content) => found.includes(content)) ? found : undefined;
  });

const skipped = async (): Promise<LogLine[]> => (await logOf(replica())).filter(({ msg }) => msg === 'line skipped');

describe('the sensor of standard input', () => {
  it('STIM-19 GEN-08 reads from the start, and runs a workflow for each line', async () => {
    await waitForLog(replica(), 'sensor started');
    replica().stdin.write(line('first') + line('second', { source: 'tickets' }));
    await contents('first', 'second');
    const [first] = (await world.executions()).filter((execution) => inputOf(execution) === 'first');
    expect(first?.metadata.labels).toMatchObject({ 'windlass.dev/stimulus-source': 'stdin' });
    const received = (await world.events(2)).filter(({ type }) => type === 'StimulusReceived');
    expect(received.map(({ data }) => data['source'])).toEqual(expect.arrayContaining(['stdin', 'tickets']));
  });

  it('AMB-051 skips a line that is no stimulus, names the line and not its content, and continues', async () => {
    const before = (await skipped()).length;
    const nonsense = [
      'no json, my secret',
      '{"content":1,"my secret":2}',
      '[]',
      '',
      `{"content":"${'x'.repeat(1_048_577)}"}`,
    ];
    replica().stdin.write(`${nonsense.join('\n')}\n${line('third')}`);
    await contents('third');
    // Lines of the log are written together.
    await expect.poll(async () => (await skipped()).length, { timeout: 10_000 }).toBe(before + 4);
    const skippedLines = (await skipped()).slice(before);
    const first = Number(skippedLines[0]?.['line']);
    expect(skippedLines.map((one) => [Number(one['line']) - first, one['problem']])).toEqual([
      [0, 'it is not JSON that every reader reads alike'],
      [1, 'it has an unknown field'],
      [2, 'it is not an object'],
      [4, 'it is too long'],
    ]);
    expect(JSON.stringify(skippedLines)).not.toMatch(/secret|xxx/);
  });

  it('STIM-35 tells a duplicate from the first by its key, whichever backend took the first', async () => {
    const answer = await world.submit({ source: 'tickets', content: 'fourth', idempotency_key: 'k' });
    const { stimulus_id: original } = answer.json<Accepted>();
    replica().stdin.write(line('again', { source: 'tickets', idempotency_key: 'k' }));
    const refused = await waitForLog(replica(), 'stimulus refused');
    expect(refused).toMatchObject({ outcome: 'idempotent_duplicate', originalStimulusId: original });
    expect(await contents('fourth')).not.toContain('again');
  });

  it('continues after a line without a route', async () => {
    replica().stdin.write(line('lost', { source: 'nobody' }) + line('fifth'));
    await waitForLog(replica(), 'stimulus refused', ({ outcome }) => outcome === 'no_router_configured');
    expect(await contents('fifth')).not.toContain('lost');
  });

  it('waits for an event bus that is away, reads no further, and loses no line that has a key', async () => {
    const keys = Array.from({ length: 40 }, (_, index) => `kept-${index}`);
    await world.nats?.kill();
    try {
      replica().stdin.write(keys.map((key) => line(key, { idempotency_key: key })).join(''));
      await waitForLog(replica(), 'stimulus not taken in yet');
    } finally {
      await world.nats?.start();
    }
    const found = await contents(...keys);
    expect(found.filter((content) => keys.includes(content))).toHaveLength(keys.length);
  });

  it('GEN-08 stops at SIGTERM: what was read runs, each line once, and the process ends in peace', async () => {
    const before = (await world.executions()).length;
    const lines = Array.from({ length: 60 }, (_, index) => line(`last-${index}`));
    replica().stdin.write(lines.join(''));
    await waitForView(world.kube, { resource: workflowExecutions, namespace: world.tenant }, (view) =>
      view.size > before ? true : undefined,
    );
    expect(await replica().stop()).toBe(0);
    const ended = await waitForLog(replica(), 'sensor ended');
    const found = (await contents()).filter((content) => content.startsWith('last-'));
    expect(new Set(found).size).toBe(found.length);
    const routed = (await logOf(replica())).filter(({ msg }) => msg === 'stimulus routed');
    expect(found.length).toBeGreaterThan(0);
    expect(ended['stimuli']).toBeGreaterThanOrEqual(found.length);
    expect(routed).toHaveLength((await contents()).length);
  });

  it('GEN-08 ends where standard input does, and the API keeps running', async () => {
    await replica().start();
    replica().stdin.end(line('after the end'));
    await waitForLog(replica(), 'sensor ended', ({ stimuli }) => stimuli === 1);
    await contents('after the end');
    expect((await world.http('/health')).status).toBe(200);
  });

  it('GEN-08 reads no line where the API cannot serve: it could not give it back', async () => {
    await replica().stop();
    const starts = async () => (await logOf(replica())).filter(({ msg }) => msg === 'sensor started').length;
    const before = await starts();
    const taken = createServer().listen(Number(new URL(replica().url).port), '127.0.0.1');
    await once(taken, 'listening');
    await expect(replica().start()).rejects.toThrow('ended while starting');
    taken.close();
    expect(await starts()).toBe(before);
  });
});
