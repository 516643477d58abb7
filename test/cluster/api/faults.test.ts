import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anEnd, aQuestion, aWorkflow } from '../../builders/workflow-builder.ts';
import { isFinished, startExecution } from '../harness/executions.ts';
import { workflowExecutions, workflows } from '../harness/kinds.ts';
import { pause, waitForView } from '../harness/wait.ts';
import { faultsOf, madeBefore, sendWhileKilled, type Work } from './acknowledged.ts';
import type { ApiReplica } from './harness/index.ts';
import { type Accepted, type StimuliWorld, startStimuliWorld } from './stimuli-world.ts';

const count = 200;

let world: StimuliWorld;
let ada: string;

beforeAll(async () => {
  world = await startStimuliWorld(['deaths'], {
    purpose: 'api-faults',
    replicas: 2,
    // As long as it takes until everybody who sends requests has heard of a stop.
    env: { WINDLASS_DRAIN_SECONDS: '2' },
  });
  ada = await world.token({ user: 'ada', tenant: world.tenant });
  await world.workflow('answer');
  const gate = aWorkflow('gate')
    .state('ask', aQuestion('Go on?', { yes: 'end', no: 'end' }))
    .state('end', anEnd());
  await world.kube.create(workflows, { ...gate.build(), metadata: { name: 'gate', namespace: world.tenant } });
  await world.router('routes', { routes: { deaths: 'answer' } });
});
afterAll(() => world?.close());

/** Ids by the number that ends a name such as `many-17`. */
function byNumber(prefix: string, objects: readonly (readonly [name: string, id: string])[]): Map<number, string[]> {
  const found = new Map<number, string[]>();
  for (const [name, id] of objects) {
    if (!name.startsWith(prefix)) continue;
    const number = Number(name.slice(prefix.length));
    found.set(number, [...(found.get(number) ?? []), id]);
  }
  return found;
}

const executions = async () => (await world.kube.listAll(workflowExecutions, { namespace: world.tenant })).items;

const registrations: Work = {
  send(index, replica) {
    const manifest = {
      apiVersion: 'windlass.dev/v1',
      kind: 'Workflow',
      metadata: { name: `registered-${index}`, version: '1.0.0' },
      spec: { initial_state: 'end', states: { end: { kind: 'System', command: 'finalize', transitions: [] } } },
    };
    const headers = { 'content-type': 'application/json' };
    return world.http('/v1/workflows/register', { token: ada, headers, body: JSON.stringify(manifest) }, replica);
  },
  outcomeOf: (answer) => (answer.status === 200 ? answer.json<{ workflow_id: string }>().workflow_id : undefined),
  async left() {
    const { items } = await world.kube.listAll(workflows, { namespace: world.tenant });
    return byNumber(
      'registered-',
      items.map(({ metadata }) => [metadata.name, metadata.uid ?? '']),
    );
  },
};

const starts: Work = {
  send: (index, replica) =>
    world.http(
      '/v1/workflows/executions',
      {
        token: ada,
        headers: { 'idempotency-key': `start-${index}` },
        body: { workflow: 'answer', intent: `start-${index}` },
      },
      replica,
    ),
  outcomeOf: (answer) => (answer.status === 200 ? answer.json<{ execution_id: string }>().execution_id : undefined),
  left: async () =>
    byNumber(
      'start-',
      (await executions()).map(({ spec, metadata }) => [spec.intent ?? '', metadata.uid ?? '']),
    ),
};

const webhooks: Work = {
  send: (index, replica) =>
    world.webhook('deaths', `hook-${index}`, { headers: { 'x-idempotency-key': `hook-${index}` }, replica }),
  outcomeOf(answer) {
    if (answer.status === 409) return madeBefore;
    return answer.status === 200 ? answer.json<Accepted>().workflow_execution_id : undefined;
  },
  left: async () =>
    byNumber(
      'hook-',
      (await executions()).map(({ spec, metadata }) => [spec.intent ?? '', metadata.uid ?? '']),
    ),
};

/** Executions `gate-<number>` that wait, and the ids of what they ask. */
async function waitingGates(): Promise<readonly string[]> {
  const numbers = Array.from({ length: count }, (_, index) => index);
  for (const index of numbers) {
    await startExecution(world.kube, { namespace: world.tenant, name: `gate-${index}` }, { workflow: 'gate' });
  }
  const uids = await waitForView(world.kube, { resource: workflowExecutions, namespace: world.tenant }, (view) => {
    const waiting = [...view.values()].filter(({ status }) => status?.phase === 'waiting');
    return waiting.length === count ? new Map(waiting.map(({ metadata }) => [metadata.uid, metadata.name])) : undefined;
  });
  const { pending_requests: asked } = (await world.http('/v1/human-approvals', { token: ada })).json<{
    pending_requests: { id: string; execution_id: string }[];
  }>();
  const byName = new Map(asked.map(({ id, execution_id }) => [uids.get(execution_id), id]));
  return numbers.map((index) => byName.get(`gate-${index}`) ?? '');
}

const decisions = (requests: readonly string[]): Work => ({
  send: (index, replica) =>
    world.http(
      `/v1/human-approvals/${requests[index]}/approve`,
      { method: 'POST', token: ada, body: { feedback: `decision-${index}` } },
      replica,
    ),
  outcomeOf(answer) {
    // Exactly one of several decisions is answered 200; where its answer is lost, the others tell that it was made.
    if (answer.status === 404) return madeBefore;
    return answer.status === 200 ? 'stored' : undefined;
  },
  left: async () =>
    byNumber(
      'gate-',
      (await executions()).flatMap(({ spec, metadata }) =>
        (spec.signals ?? []).map(
          ({ response }) => [metadata.name, response === 'approved' ? 'stored' : response] as const,
        ),
      ),
    ),
});

describe('a replica that is killed', () => {
  it.each<[what: string, work: () => Promise<Work>]>([
    ['registrations', async () => registrations],
    ['starts', async () => starts],
    ['webhooks', async () => webhooks],
    ['decisions', async () => decisions(await waitingGates())],
  ])(`during ${count} parallel %s loses none that was acknowledged, and doubles none`, async (_what, make) => {
    const work = await make();
    const outcomes = await sendWhileKilled(work, count, world);
    expect(outcomes.size).toBe(count);
    expect(await faultsOf(work, outcomes)).toEqual([]);
  });

  it('leaves nothing behind that does not come to its end', async () => {
    const { resource, namespace } = { resource: workflowExecutions, namespace: world.tenant };
    const open = await waitForView(world.kube, { resource, namespace }, (view) =>
      [...view.values()].every(isFinished) ? [...view.values()] : undefined,
    );
    expect(open.length).toBeGreaterThanOrEqual(3 * count);
    expect(open.filter(({ status }) => status?.phase !== 'completed')).toEqual([]);
  });
});

describe('a rolling restart', () => {
  /** Which replicas a Service would send requests to, by their own word, looked at as often as a kubelet may. */
  function watchReadiness(): { readonly ready: () => readonly number[]; stop(): Promise<void> } {
    let ready: readonly number[] = [0, 1];
    let over = false;
    const isReady = async ({ internalUrl }: ApiReplica): Promise<boolean> =>
      (await fetch(`${internalUrl}/ready`).catch(() => undefined))?.ok === true;
    const watching = (async () => {
      while (!over) {
        const states = await Promise.all(world.replicas.map(isReady));
        ready = states.flatMap((state, index) => (state ? [index] : []));
        await pause(100);
      }
    })();
    return {
      ready: () => ready,
      async stop() {
        over = true;
        await watching;
      },
    };
  }

  it('under load fails no call, though none is repeated and none has a key, and ends streams whole', async () => {
    const service = watchReadiness();
    const gate = await startExecution(world.kube, { namespace: world.tenant, name: 'watched' }, { workflow: 'gate' });
    const acknowledged: string[] = [];
    const failed: string[] = [];
    let over = false;

    async function sendUntilOver(worker: number): Promise<void> {
      for (let number = 0; !over; number++) {
        const replicas = service.ready();
        const replica = replicas[(worker + number) % replicas.length] ?? 0;
        const sending = { token: ada, body: { workflow: 'answer', intent: `rolling-${worker * 100_000 + number}` } };
        const answer = await world.http('/v1/workflows/executions', sending, replica).catch((error: unknown) => error);
        const { status, text } = answer as { status?: number; text?: string };
        if (status === 200 && text !== undefined) acknowledged.push(JSON.parse(text).execution_id);
        else failed.push(status === undefined ? String(answer) : `${status} ${text}`);
        await pause(20);
      }
    }

    /** A client that follows an execution, and comes back when its stream ends. */
    async function followUntilOver(): Promise<number> {
      let streams = 0;
      for (; !over; streams++) {
        const [replica = 0] = service.ready();
        const path = `/v1/workflows/executions/${gate.metadata.uid}/stream`;
        const stream = await world.clients[replica]?.open(path, { token: ada });
        if (stream === undefined) throw new Error('there is no client');
        // A stream that is not ended but broken off throws here.
        const reading = (async () => {
          for await (const _ of stream.events);
        })();
        while (!over && (await Promise.race([reading.then(() => 'ended'), pause(100).then(() => 'open')])) === 'open');
        if (over) stream.close();
        await reading.catch((error: unknown) => {
          if (!over) throw error;
        });
      }
      return streams;
    }

    const senders = Array.from({ length: 6 }, (_, worker) => sendUntilOver(worker));
    const follower = followUntilOver();
    for (const replica of world.replicas) {
      expect(await replica.stop()).toBe(0);
      await replica.start();
      await pause(500);
    }
    over = true;
    await Promise.all(senders);
    const streams = await follower;
    await service.stop();
    expect(failed).toEqual([]);
    expect(acknowledged.length).toBeGreaterThan(50);
    const made = (await executions()).filter(({ spec }) => spec.intent?.startsWith('rolling-'));
    expect(made).toHaveLength(acknowledged.length);
    expect(new Set(made.map(({ metadata }) => metadata.uid))).toEqual(new Set(acknowledged));
    expect(streams).toBeGreaterThan(1);
  });
});
