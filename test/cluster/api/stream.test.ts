import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventFields, lastEvents } from '../../../api/routes/executions/stream/event-schema.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import { createValidator } from '../../../crds/validators.ts';
import { approvalId } from '../../../lib/decision/approval-id.ts';
import { anEnd, anUpdate, aQuestion, aScript, aWorkflow } from '../../builders/workflow-builder.ts';
import { type ApiProxy, startApiProxy } from '../harness/api-proxy.ts';
import { kubeconfigPath } from '../harness/cluster.ts';
import { waitUntilWaiting } from '../harness/executions.ts';
import { workflowExecutions, workflows } from '../harness/kinds.ts';
import { buildDir } from '../harness/project.ts';
import { pause, waitForObject } from '../harness/wait.ts';
import { type ApiWorld, type EventStream, type ReceivedEvent, type Sending, startApiWorld } from './harness/index.ts';

const base = '/v1/workflows/executions';
const account = {
  user: 'system:serviceaccount:windlass-system:windlass-api',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:windlass-system', 'system:authenticated'],
};

let proxy: ApiProxy;
let world: ApiWorld;
let ada: string;

beforeAll(async () => {
  const upstream = kubeconfigPath();
  proxy = await startApiProxy({ upstream, kubeconfig: join(buildDir, 'api-stream-proxy.kubeconfig'), as: account });
  world = await startApiWorld({ purpose: 'api-stream', replicas: 2, env: { KUBECONFIG: proxy.kubeconfig } });
  ada = await world.token({ user: 'ada', tenant: world.tenant });
  await Promise.all(
    [
      aWorkflow('quick')
        .with({ output_template: { done: 'yes' } })
        .state('save', anUpdate({ a: '1' }, 'end'))
        .state('end', anEnd()),
      aWorkflow('gate')
        .with({ output_template: { answer: '{{ask.output}}' } })
        .state('ask', aQuestion('Deploy?', { yes: 'end', no: 'ask2' }))
        .state('ask2', aQuestion('Really?', { yes: 'end', no: 'end' }))
        .state('end', anEnd()),
      aWorkflow('flaky')
        .state(
          'try',
          aScript('exit 3', {
            retry: { max_attempts: 2, backoff: '0s' },
            transitions: [{ condition: 'on_failure', target: 'end' }],
          }),
        )
        .state('end', anEnd()),
      aWorkflow('wrong')
        .with({ input_schema: { type: 'object', required: ['a'] } })
        .state('end', anEnd()),
    ].map((builder) => register(builder.build())),
  );
});
afterAll(async () => {
  await world?.close();
  await proxy?.close();
});

async function register(workflow: Workflow): Promise<void> {
  const namespace = world.tenant;
  const { name } = workflow.metadata;
  await world.kube.create(workflows, { ...workflow, metadata: { name, namespace } });
  const judged = ({ status }: Workflow) => (status?.conditions?.length ?? 0) > 0;
  await waitForObject(world.kube, { resource: workflows, namespace, name }, judged);
}

async function start(workflow: string, replica = 0): Promise<{ id: string; name: string }> {
  const answer = await world.http(base, { token: ada, body: { workflow } }, replica);
  const { execution_id: id } = answer.json<{ execution_id: string }>();
  const { name } = (await world.http(`${base}/${id}`, { token: ada }, replica)).json<{ name: string }>();
  return { id, name };
}

/** An execution that asks. */
async function asking(): Promise<{ id: string; name: string }> {
  const execution = await start('gate');
  await waitUntilWaiting(world.kube, { namespace: world.tenant, name: execution.name, state: 'ask' });
  return execution;
}

function open(id: string, replica = 0, behind?: string): Promise<EventStream> {
  const headers: Record<string, string> = behind === undefined ? {} : { 'last-event-id': behind };
  return (
    world.clients[replica]?.open(`${base}/${id}/stream`, { token: ada, headers }) ??
    Promise.reject(new Error('no such replica'))
  );
}

const refused = (id: string, sending: Sending) => world.http(`${base}/${id}/stream`, { token: ada, ...sending });

/** Events up to and with the one of that id, or all of the stream. */
async function until(stream: EventStream, last?: string): Promise<ReceivedEvent[]> {
  const events: ReceivedEvent[] = [];
  const iterator = stream.events[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await iterator.next();
    if (done === true) return events;
    events.push(value);
    if (value.id === last) return events;
  }
}

const all = async (id: string, replica = 0, behind?: string) => until(await open(id, replica, behind));
const typeOf = ({ data }: ReceivedEvent) => Object.keys(data as object).join();
const ids = (events: readonly ReceivedEvent[]) => events.map(({ id }) => id);
const signal = (id: string, response: string, replica = 0) =>
  world.http(`${base}/${id}/signal`, { token: ada, body: { response } }, replica);
/** The events without what only the present state knew. */
const lasting = (events: readonly ReceivedEvent[]) =>
  events.map(({ id, data }) => {
    const [[type, fields] = ['', {}]] = Object.entries(data as Record<string, Record<string, unknown>>);
    if (!['state_started', 'state_retried', 'human_approval_requested'].includes(type)) return { id, type, fields };
    const { prompt: _prompt, answers: _answers, reason: _reason, message: _message, ...more } = fields;
    const { retry_at: _at, deadline: _deadline, ...rest } = more;
    return { id, type, fields: rest };
  });

const gateIds = ['start', '1.started', '1.approval', '1.completed', '2.started', '2.completed', 'end'];

describe('the stream of an execution', () => {
  it('AMB-030 AMB-032 tells what happens from the first event to the one that ends it, each in one line of JSON', async () => {
    const { id } = await start('quick');
    const stream = await open(id);
    expect(stream.status).toBe(200);
    expect(stream.headers['content-type']).toBe('text/event-stream');
    const events = await until(stream);
    expect(events.map(typeOf)).toEqual([
      'workflow_execution_started',
      'state_started',
      'state_completed',
      'state_started',
      'state_completed',
      'workflow_execution_completed',
    ]);
    for (const event of events) {
      const type = typeOf(event) as keyof typeof eventFields;
      expect(createValidator(eventFields[type])((event.data as Record<string, unknown>)[type])).toEqual([]);
      expect((event.data as Record<string, { execution_id: string }>)[type]?.execution_id).toBe(id);
    }
    expect(events.at(-1)?.data).toMatchObject({
      workflow_execution_completed: { final_output: { done: 'yes' }, transitions: 1 },
    });
    for (const frame of stream.text().split('\n\n').slice(0, -1)) expect(frame).toMatch(/^id: \S+\ndata: \{.*\}$/);
  });

  it('AMB-030 of one that has ended is the same bytes on every replica, by id and by name', async () => {
    const { id, name } = await start('quick');
    await all(id);
    const texts = await Promise.all(
      [open(id), open(id, 1), open(name), open(name, 1)].map(async (opening) => {
        const stream = await opening;
        await until(stream);
        return stream.text();
      }),
    );
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toContain('workflow_execution_completed');
  });

  it('AMB-030 continues live on both replicas when a user answers through one of them', async () => {
    const { id } = await asking();
    const streams = await Promise.all([open(id, 0), open(id, 1)]);
    const following = streams.map((stream) => until(stream));
    await pause(100);
    expect((await signal(id, 'yes', 1)).status).toBe(200);
    const [here = [], there = []] = await Promise.all(following);
    expect(ids(here)).toEqual(gateIds);
    expect(lasting(there)).toEqual(lasting(here));
    expect(here[2]?.data).toEqual({
      human_approval_requested: {
        execution_id: id,
        state: 'ask',
        visit: 1,
        request_id: approvalId(id, { state: 'ask', visit: 1 }),
        requested_at: expect.any(String),
        prompt: 'Deploy?',
        answers: ['approved', 'rejected'],
      },
    });
    expect(here[3]?.data).toMatchObject({ state_completed: { response: 'yes', by: expect.stringMatching(/ada/) } });
    expect(lasting(await all(id, 1))).toEqual(lasting(here));
  });

  it('AMB-030 continues behind each event on the other replica, without a gap or a repetition', async () => {
    const { id } = await asking();
    await signal(id, 'yes');
    const whole = lasting(await all(id));
    for (const [index, { id: last }] of whole.slice(0, -1).entries()) {
      expect(lasting(await all(id, 1, last))).toEqual(whole.slice(index + 1));
    }
    expect(lasting(await all(id, 1, ''))).toEqual(whole);
  });

  it('AMB-030 behind the event that ends a stream is 204, so that who reconnects by itself stops', async () => {
    const { id } = await start('quick');
    await all(id);
    for (const method of ['GET', 'HEAD']) {
      const answer = await refused(id, { method, headers: { 'last-event-id': 'end' } });
      expect([answer.status, answer.headers['content-type'], answer.text]).toEqual([204, undefined, '']);
    }
    const unknown = await refused('00000000-0000-4000-8000-000000000000', { headers: { 'last-event-id': 'end' } });
    expect(unknown.status).toBe(404);
  });

  it('AMB-030 continues behind an event that is still to come', async () => {
    const { id } = await asking();
    const stream = await open(id, 0, '1.completed');
    await signal(id, 'no');
    expect(ids(await until(stream, '2.approval'))).toEqual(['2.started', '2.approval']);
    stream.close();
    await signal(id, 'yes');
  });

  it('tells each further attempt, and why it is made', async () => {
    const { id } = await start('flaky');
    const events = await all(id);
    expect(events.map(({ id: one, data }) => `${one} ${Object.keys(data as object).join()}`)).toEqual([
      'start workflow_execution_started',
      '1.started state_started',
      '1.attempt.2 state_retried',
      '1.completed state_completed',
      '2.started state_started',
      '2.completed state_completed',
      'end workflow_execution_completed',
    ]);
    expect(events[3]?.data).toMatchObject({
      state_completed: { status: 'failed', reason: 'ExitCode', attempts: 2, exit_code: 3 },
    });
  });

  it('AMB-032 ends with workflow_execution_failed where nothing could begin', async () => {
    const name = 'wrong-input';
    const made = await world.kube.create(workflowExecutions, {
      apiVersion: 'windlass.dev/v1',
      kind: 'WorkflowExecution',
      metadata: { name, namespace: world.tenant },
      spec: { workflow: 'wrong' },
    });
    const events = await all(made.metadata.uid ?? '');
    expect(events.map(typeOf)).toEqual(['workflow_execution_failed']);
    expect(events[0]?.data).toMatchObject({ workflow_execution_failed: { reason: 'InvalidInput' } });
  });

  it('AMB-032 ends with workflow_execution_cancelled, and reads the same afterwards', async () => {
    const { id } = await asking();
    const stream = await open(id);
    const following = until(stream);
    await world.http(`${base}/${id}/cancel`, { token: ada, body: { reason: 'enough' } }, 1);
    const events = await following;
    expect(ids(events)).toEqual(['start', '1.started', '1.approval', 'end']);
    expect(events.at(-1)?.data).toMatchObject({
      workflow_execution_cancelled: { reason: 'enough', by: expect.stringMatching(/ada/) },
    });
    expect(lasting(await all(id, 1))).toEqual(lasting(events));
  });

  it('AMB-032 ends with workflow_execution_deleted when it is deleted on the way, exactly once', async () => {
    const { id, name } = await asking();
    const streams = await Promise.all([open(id, 0), open(id, 1), open(id, 0, '1.started')]);
    const following = streams.map((stream) => until(stream));
    await pause(100);
    await world.kube.delete(workflowExecutions, { namespace: world.tenant, name });
    for (const events of await Promise.all(following)) {
      expect(events.filter((event) => (lastEvents as readonly string[]).includes(typeOf(event)))).toHaveLength(1);
      expect(events.at(-1)).toMatchObject({ id: 'end', data: { workflow_execution_deleted: { execution_id: id } } });
    }
    expect((await refused(id, {})).status).toBe(404);
  });

  it('another execution under the same name is another stream', async () => {
    const { id, name } = await asking();
    const following = until(await open(id));
    await world.kube.delete(workflowExecutions, { namespace: world.tenant, name });
    expect((await following).at(-1)?.data).toEqual({ workflow_execution_deleted: { execution_id: id } });
    const next = await world.kube.create(workflowExecutions, {
      apiVersion: 'windlass.dev/v1',
      kind: 'WorkflowExecution',
      metadata: { name, namespace: world.tenant },
      spec: { workflow: 'quick' },
    });
    const events = await all(next.metadata.uid ?? '');
    expect(events.at(-1)?.data).toMatchObject({ workflow_execution_completed: { execution_id: next.metadata.uid } });
  });
});

describe('what asks for a stream in a wrong way', () => {
  it.each([
    '0',
    'START',
    '1',
    '1.attempt.1',
    '102.started',
    '-1.started',
    'é',
    'x'.repeat(64),
    'x'.repeat(65),
    '\u0000',
  ])('Last-Event-ID %j is 400 before the stream begins', async (value) => {
    const { id } = await start('quick');
    const answer = await refused(id, { headers: { 'last-event-id': Buffer.from(value).toString('latin1') } }).catch(
      () => undefined,
    );
    // A header that HTTP itself does not allow is never sent.
    expect(answer?.status ?? 400).toBe(400);
  });

  it('two of them are 400, and so is an unknown parameter', async () => {
    const { id } = await start('quick');
    const twice = [
      ['last-event-id', 'start'],
      ['last-event-id', 'end'],
    ] as const;
    expect((await refused(id, { headers: twice })).status).toBe(400);
    expect((await world.http(`${base}/${id}/stream?from=1`, { token: ada })).status).toBe(400);
  });

  it('AMB-029 no token is 401, and another tenant 404 as JSON', async () => {
    const { id } = await start('quick');
    expect((await world.http(`${base}/${id}/stream`)).status).toBe(401);
    const stranger = await world.token({ user: 'eve', tenant: world.otherTenant });
    const answer = await world.http(`${base}/${id}/stream`, { token: stranger });
    expect([answer.status, answer.json()]).toEqual([
      404,
      {
        error: 'Execution not found',
        code: 'execution_not_found',
        message: 'The tenant has no execution of that id.',
      },
    ]);
  });

  it('HEAD has the headers of a stream and ends at once', async () => {
    const { id } = await asking();
    const answer = await refused(id, { method: 'HEAD' });
    expect([answer.status, answer.headers['content-type'], answer.text]).toEqual([200, 'text/event-stream', '']);
  });
});

describe('a stream through trouble', () => {
  it('AMB-030 loses and repeats nothing when the watches of the replicas break, again and again', async () => {
    const { id } = await asking();
    const following = [until(await open(id, 0)), until(await open(id, 1))];
    for (let round = 0; round < 3; round++) {
      proxy.breakConnections();
      await pause(150);
    }
    expect((await signal(id, 'no')).status).toBe(200);
    proxy.breakConnections();
    for (let attempt = 0; attempt < 50; attempt++) {
      if ((await signal(id, 'yes', 1)).status === 200) break;
      await pause(100);
    }
    for (const events of await Promise.all(following)) {
      expect(ids(events)).toEqual([
        ...gateIds.slice(0, 4),
        '2.started',
        '2.approval',
        '2.completed',
        '3.started',
        '3.completed',
        'end',
      ]);
    }
  });

  it('AMB-030 tells all that happened while the API server was out of reach, once it is back', async () => {
    const { id, name } = await asking();
    const following = [until(await open(id, 0)), until(await open(id, 1))];
    await proxy.goDown();
    const ref = { namespace: world.tenant, name };
    const entry = {
      id: 'ask-1',
      state: 'ask',
      visit: 1,
      response: 'yes',
      by: (await world.kube.whoAmI()).username,
      at: new Date().toISOString(),
    };
    await world.kube.mergePatch(workflowExecutions, ref, { spec: { signals: [entry] } });
    await pause(1_000);
    await proxy.comeUp();
    for (const events of await Promise.all(following)) expect(ids(events)).toEqual(gateIds);
  });

  it('AMB-032 tells that it was deleted while the API server was out of reach', async () => {
    const { id, name } = await asking();
    const following = [until(await open(id, 0)), until(await open(id, 1))];
    await proxy.goDown();
    await world.kube.delete(workflowExecutions, { namespace: world.tenant, name });
    await pause(1_000);
    await proxy.comeUp();
    for (const events of await Promise.all(following)) {
      expect(ids(events)).toEqual(['start', '1.started', '1.approval', 'end']);
      expect(events.at(-1)?.data).toEqual({ workflow_execution_deleted: { execution_id: id } });
    }
  });

  it('AMB-030 continues at another replica after one was killed, without a gap or a repetition', async () => {
    const { id } = await asking();
    const stream = await open(id, 1);
    const before = await until(stream, '1.approval');
    await world.replicas[1]?.kill();
    await expect(until(stream)).rejects.toThrow(/terminated|closed|ECONNRESET|aborted/);
    const following = until(await open(id, 0, before.at(-1)?.id));
    await signal(id, 'yes');
    expect([...ids(before), ...ids(await following)]).toEqual(gateIds);
    await world.replicas[1]?.start();
    expect(ids(await all(id, 1))).toEqual(gateIds);
  });

  it('AMB-030 ends cleanly when a replica stops, and continues at the other', async () => {
    const { id } = await asking();
    const following = until(await open(id, 1));
    await pause(100);
    expect(await world.replicas[1]?.stop()).toBe(0);
    const before = await following;
    expect(ids(before)).toEqual(gateIds.slice(0, 3));
    const rest = until(await open(id, 0, before.at(-1)?.id));
    await signal(id, 'yes');
    expect(ids(await rest)).toEqual(gateIds.slice(3));
    await world.replicas[1]?.start();
  });

  it('two hundred clients of one execution all get everything, also those who come late or leave early', async () => {
    const { id } = await asking();
    const early = await Promise.all(Array.from({ length: 100 }, (_, index) => open(id, index % 2)));
    const following = early.slice(0, 90).map((stream) => until(stream));
    for (const stream of early.slice(90)) stream.close();
    await signal(id, 'yes');
    const late = Array.from({ length: 100 }, async (_, index) => until(await open(id, index % 2)));
    for (const events of await Promise.all([...following, ...late])) expect(ids(events)).toEqual(gateIds);
  });
});
