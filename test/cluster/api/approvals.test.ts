import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ApprovalRequest,
  ApprovalRequest as ApprovalRequestSchema,
} from '../../../api/routes/human-approvals/contract.ts';
import type { StateOf } from '../../../crds/schema/state.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { createValidator } from '../../../crds/validators.ts';
import { approvalId } from '../../../lib/decision/approval-id.ts';
import { type Event as KubeEvent, events } from '../../../lib/kube/index.ts';
import { anEnd, anUpdate, aQuestion, aWorkflow } from '../../builders/workflow-builder.ts';
import { sendSignal, startExecution, waitUntilFinished, waitUntilWaiting } from '../harness/executions.ts';
import { workflowExecutions, workflows } from '../harness/kinds.ts';
import { pause, type View, waitForObject, waitForView } from '../harness/wait.ts';
import { type ApiWorld, type Received, type Sending, startApiWorld } from './harness/index.ts';

const base = '/v1/human-approvals';
const goneText = 'Request not found or already completed';
const unknownId = '6c0a3c52-8a52-5a8e-9c0e-6d7d6a0c9f11';

let world: ApiWorld;
let ada: string;
let stranger: string;

const asks = (fields: Partial<StateOf<'Human'>> = {}): StateOf<'Human'> => ({
  ...aQuestion('Deploy {{input.what}}?', { yes: 'done', no: 'refused' }),
  ...fields,
});
const ask = aWorkflow('ask')
  .with({ output_template: { verdict: '{{blackboard.verdict}}', said: '{{blackboard.said}}' } })
  .state('ask', asks())
  .state('done', anUpdate({ verdict: 'done', said: '{{human.feedback}}' }, 'end'))
  .state('refused', anUpdate({ verdict: 'refused', said: '{{human.feedback}}' }, 'end'))
  .state('end', anEnd());
const twice = aWorkflow('twice')
  .state('ask', { ...asks(), transitions: [{ condition: 'input_equals_yes', target: 'ask' }, { target: 'end' }] })
  .state('end', anEnd());
const yesOnly = aWorkflow('yes-only')
  .state('ask', { ...asks(), transitions: [{ condition: 'input_equals_yes', target: 'end' }] })
  .state('end', anEnd());
const short = (timeout: string, fields: Partial<StateOf<'Human'>> = {}) =>
  aWorkflow(`short-${timeout}${fields.default_response ?? ''}`)
    .state('ask', asks({ timeout, ...fields }))
    .state('done', anEnd())
    .state('refused', anEnd());

beforeAll(async () => {
  world = await startApiWorld({ purpose: 'api-approvals', replicas: 2, nats: false });
  ada = await world.token({ user: 'ada', tenant: world.tenant });
  stranger = await world.token({ user: 'eve', tenant: world.otherTenant });
  const built = [ask, twice, yesOnly, short('1h'), short('2s'), short('2s', { default_response: 'no' })].map((one) =>
    one.build(),
  );
  await Promise.all(built.map(apply));
});
afterAll(() => world?.close());

async function apply(workflow: Workflow): Promise<void> {
  const { name } = workflow.metadata;
  await world.kube.create(workflows, { ...workflow, metadata: { name, namespace: world.tenant } });
  const isJudged = ({ status }: Workflow) => status?.observedGeneration === 1;
  await waitForObject(world.kube, { resource: workflows, namespace: world.tenant, name }, isJudged);
}

interface Waiting {
  readonly name: string;
  readonly uid: string;
  /** Id of the first visit. */
  readonly id: string;
}

let runs = 0;
/** An execution that waits for a decision. */
async function waiting(workflow = 'ask'): Promise<Waiting> {
  const ref = { namespace: world.tenant, name: `${workflow}-${(runs += 1)}` };
  await startExecution(world.kube, ref, { workflow, input: { what: 'web' } });
  const execution = await waitUntilWaiting(world.kube, { ...ref, state: 'ask' });
  const uid = execution.metadata.uid ?? '';
  return { name: ref.name, uid, id: approvalId(uid, { state: 'ask', visit: 1 }) };
}

const call = (path: string, sending: Sending = {}, replica = 0): Promise<Received> =>
  world.http(`${base}${path}`, { token: ada, ...sending }, replica);
const approve = (id: string, body: unknown = {}, sending: Sending = {}, replica = 0) =>
  call(`/${id}/approve`, { body, ...sending }, replica);
const reject = (id: string, body: unknown, sending: Sending = {}, replica = 0) =>
  call(`/${id}/reject`, { body, ...sending }, replica);
const end = ({ name }: Waiting): Promise<WorkflowExecution> =>
  waitUntilFinished(world.kube, { namespace: world.tenant, name });
const objectOf = ({ name }: Waiting): Promise<WorkflowExecution> =>
  world.kube.get(workflowExecutions, { namespace: world.tenant, name });
const pending = async (replica = 0, token = ada): Promise<ApprovalRequest[]> =>
  (await call('', { token }, replica)).json<{ pending_requests: ApprovalRequest[] }>().pending_requests;

const gone = [200, `{"error":"${goneText}"}`];
const refused = [
  404,
  expect.stringContaining(`{"error":"${goneText}","code":"request_not_found_or_already_completed"`),
];
const shown = ({ status, text }: Received) => [status, text];

describe('a request', () => {
  it('HUMAN-API-01 HUMAN-API-02 HUMAN-API-03 HUMAN-API-04 HUMAN-API-05 HUMAN-API-07 is shown with its fields, the same on every replica', async () => {
    const run = await waiting('short-1h');
    const { status } = await objectOf(run);
    for (const replica of [0, 1]) {
      const answer = await call(`/${run.id}`, {}, replica);
      expect(answer.status).toBe(200);
      const { request } = answer.json<{ request: ApprovalRequest }>();
      expect(createValidator(ApprovalRequestSchema)(request)).toEqual([]);
      expect(request).toEqual({
        id: run.id,
        execution_id: run.uid,
        prompt: 'Deploy web?',
        created_at: status?.current?.entered_at,
        timeout_seconds: 3_600,
      });
    }
  });

  it('AMB-036 without a time limit has 0', async () => {
    const { id } = await waiting();
    expect((await call(`/${id}`)).json()).toMatchObject({ request: { timeout_seconds: 0 } });
  });

  it('HUMAN-API-06 is in the list, the oldest first, as soon as it waits', async () => {
    const [first, second] = [await waiting(), await waiting()];
    await expect.poll(async () => (await pending(1)).map(({ id }) => id)).toContain(second.id);
    const ids = (await pending(1)).map(({ id }) => id);
    expect(ids.indexOf(first.id)).toBeLessThan(ids.indexOf(second.id));
  });

  it('AMB-037 of another tenant is like an unknown one', async () => {
    const run = await waiting();
    expect(await pending(0, stranger)).toEqual([]);
    const token = stranger;
    for (const id of [run.id, unknownId]) {
      expect(shown(await call(`/${id}`, { token }))).toEqual(gone);
      expect(shown(await approve(id, {}, { token }))).toEqual(refused);
      expect(shown(await reject(id, { reason: 'x' }, { token }))).toEqual(refused);
    }
    expect((await objectOf(run)).spec.signals).toBeUndefined();
  });

  it.each(['x', 'not-a-uuid', `${unknownId}0`, unknownId.slice(1), '%00', unknownId.replaceAll('-', '')])(
    'HUMAN-API-08 AMB-033 with the id %j is 400',
    async (id) => {
      const answers = await Promise.all([call(`/${id}`), approve(id), reject(id, { reason: 'x' })]);
      expect(answers.map(shown)).toEqual(
        answers.map(() => [400, expect.stringContaining('{"error":"Invalid request ID","code":"invalid_request_id"')]),
      );
    },
  );

  it('HUMAN-API-01 may be named in capital letters', async () => {
    const { id } = await waiting();
    expect((await call(`/${id.toUpperCase()}`)).json()).toMatchObject({ request: { id } });
  });

  it('ORCH-AUTH-15 needs a token on every route', async () => {
    const routes: [string, Sending][] = [
      ['', {}],
      [`/${unknownId}`, {}],
      [`/${unknownId}/approve`, { body: {} }],
      [`/${unknownId}/reject`, { body: { reason: 'x' } }],
    ];
    for (const [path, sending] of routes) {
      expect((await world.http(`${base}${path}`, sending)).status).toBe(401);
    }
  });
});

describe('approving', () => {
  it('HUMAN-API-10 HUMAN-API-13 resumes the workflow, and says who decided by the token', async () => {
    const run = await waiting();
    const answer = await approve(run.id, { feedback: 'Looks good.', approved_by: 'The CEO' });
    expect(shown(answer)).toEqual([200, '{"status":"approved"}']);
    const { spec, status } = await end(run);
    expect(status?.final_output).toEqual({ verdict: 'done', said: 'Looks good.' });
    const subject = status?.history?.[0]?.signal?.by;
    expect(subject).toMatch(/ada/);
    expect(spec.signals).toMatchObject([
      { state: 'ask', visit: 1, response: 'approved', by: subject, via: 'api', note: 'The CEO' },
    ]);
  });

  it.each<[title: string, sending: Sending]>([
    ['an empty object', { body: {} }],
    ['no body at all', { method: 'POST' }],
    ['an empty body of type JSON', { method: 'POST', body: '', headers: { 'content-type': 'application/json' } }],
    ['a blank feedback', { body: { feedback: ' ' } }],
  ])('HUMAN-API-11 AMB-035 works with %s, and the feedback is then `approved`', async (_title, sending) => {
    const run = await waiting();
    expect(shown(await call(`/${run.id}/approve`, sending))).toEqual([200, '{"status":"approved"}']);
    expect((await end(run)).status?.final_output).toEqual({ verdict: 'done', said: 'approved' });
  });

  it('HUMAN-API-09 HUMAN-API-17 makes the request disappear at once, everywhere', async () => {
    const run = await waiting();
    await approve(run.id);
    expect((await pending(0)).map(({ id }) => id)).not.toContain(run.id);
    expect(shown(await call(`/${run.id}`, {}, 1))).toEqual(gone);
    expect(shown(await call(`/${run.id}`, {}, 0))).toEqual(gone);
    await expect.poll(async () => (await pending(1)).map(({ id }) => id)).not.toContain(run.id);
    await end(run);
    expect(shown(await call(`/${run.id}`))).toEqual(gone);
  });
});

describe('rejecting', () => {
  it('HUMAN-API-12 HUMAN-API-14 takes the path of a rejection, with the reason', async () => {
    const run = await waiting();
    const answer = await reject(run.id, { reason: 'The tests are red.', rejected_by: 'Sam' }, {}, 1);
    expect(shown(answer)).toEqual([200, '{"status":"rejected"}']);
    const { spec, status } = await end(run);
    expect(status?.final_output).toEqual({ verdict: 'refused', said: 'The tests are red.' });
    expect(spec.signals?.[0]).toMatchObject({ response: 'rejected', note: 'Sam', via: 'api' });
  });

  it.each<[title: string, body: unknown]>([
    ['no body', undefined],
    ['no reason', {}],
    ['an empty reason', { reason: '' }],
    ['a blank reason', { reason: ' \n\t ' }],
    ['a reason of blanks that are none of ASCII', { reason: '\u00a0\u2003' }],
    ['a reason that is null', { reason: null }],
    ['a reason that is a number', { reason: 7 }],
    ['a reason that is a list', { reason: ['x'] }],
    ['a reason that is too long', { reason: 'x'.repeat(65_537) }],
    ['a note that is too long', { reason: 'x', rejected_by: 'x'.repeat(1_025) }],
    ['a note that is null', { reason: 'x', rejected_by: null }],
    ['a field of approving', { reason: 'x', feedback: 'y' }],
    ['an unknown field', { reason: 'x', why: 'y' }],
    ['a prototype', '{"reason":"x","__proto__":{"a":1}}'],
    ['a reason twice', '{"reason":"x","reason":"y"}'],
    ['a list', []],
    ['a text', '"x"'],
    ['something that is no JSON', '{'],
  ])('HUMAN-API-15 AMB-034 with %s is 400 and decides nothing', async (_title, body) => {
    const run = await waiting();
    const headers = { 'content-type': 'application/json' };
    const answer = await call(`/${run.id}/reject`, {
      method: 'POST',
      body,
      ...(typeof body === 'string' && { headers }),
    });
    expect([answer.status, answer.json()['error']]).toEqual([400, 'invalid_request']);
    expect((await objectOf(run)).spec.signals).toBeUndefined();
    expect((await pending()).map(({ id }) => id)).toContain(run.id);
  });

  it.each([
    ['one character', 'x'],
    ['as much as may be', 'x'.repeat(65_536)],
    ['letters of every kind', 'ä漢\u{1F600}\u202e"\\\u0000'],
  ])('HUMAN-API-12 takes a reason of %s, to the letter', async (_title, reason) => {
    const run = await waiting();
    expect((await reject(run.id, { reason, rejected_by: 'x'.repeat(1_024) })).status).toBe(200);
    expect((await objectOf(run)).spec.signals?.[0]?.feedback).toBe(reason);
  });
});

describe('who is first', () => {
  it('HUMAN-API-16 AMB-033 of a hundred decisions on two replicas exactly one wins, and that is the one the workflow takes', async () => {
    for (let round = 0; round < 3; round++) {
      const run = await waiting();
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          index % 3 === 0
            ? reject(run.id, { reason: `no-${index}` }, {}, index % 2)
            : approve(run.id, { feedback: `yes-${index}` }, {}, index % 2),
        ),
      );
      const winners = answers.flatMap(({ status }, index) => (status === 200 ? [index] : []));
      expect(winners).toHaveLength(1);
      expect(answers.filter(({ status }) => status !== 200).map(shown)).toEqual(
        Array.from({ length: 99 }, () => refused),
      );
      const { spec, status } = await end(run);
      expect(spec.signals).toHaveLength(1);
      const said = (winners[0] ?? 0) % 3 === 0 ? `no-${winners[0]}` : `yes-${winners[0]}`;
      expect(status?.final_output).toMatchObject({ said });
    }
  });

  it('HUMAN-API-16 a decision of kubectl counts, though it names no visit', async () => {
    const run = await waiting();
    const ref = { namespace: world.tenant, name: run.name };
    await sendSignal(world.kube, ref, { id: 'by-hand', state: 'ask', response: 'rejected' });
    expect(shown(await approve(run.id, { feedback: 'too late' }))).toEqual(refused);
    expect(shown(await call(`/${run.id}`, {}, 1))).toEqual(gone);
    const { status } = await end(run);
    expect(status?.history?.[0]?.signal).toMatchObject({ id: 'by-hand', response: 'rejected' });
  });

  it('HUMAN-API-16 the answer of a decision is the truth, also while others decide by kubectl', async () => {
    for (let round = 0; round < 10; round++) {
      const run = await waiting();
      const ref = { namespace: world.tenant, name: run.name };
      const [answer] = await Promise.all([
        approve(run.id, { feedback: 'mine' }, {}, round % 2),
        sendSignal(world.kube, ref, { id: 'by-hand', state: 'ask', response: 'rejected' }).catch(() => undefined),
      ]);
      const { status } = await end(run);
      const isMine = (status?.final_output as { said?: string } | undefined)?.said === 'mine';
      expect(answer.status).toBe(isMine ? 200 : 404);
    }
  });

  it('HUMAN-API-01 another visit of the state is another request, and the first decides it not', async () => {
    const run = await waiting('twice');
    const second = approvalId(run.uid, { state: 'ask', visit: 2 });
    expect(shown(await approve(second))).toEqual(refused);
    await approve(run.id);
    await expect.poll(async () => (await pending()).map(({ id }) => id)).toContain(second);
    expect(shown(await approve(run.id))).toEqual(refused);
    expect(shown(await call(`/${run.id}`))).toEqual(gone);
    expect((await reject(second, { reason: 'enough' })).status).toBe(200);
    expect((await end(run)).status?.phase).toBe('completed');
  });

  it('HUMAN-API-16 what one replica shows the other decides at once', async () => {
    for (let round = 0; round < 10; round++) {
      const run = await waiting();
      const answer = await approve(run.id, {}, {}, round % 2);
      expect(answer.status).toBe(200);
    }
  });
});

describe('a request whose time is over', () => {
  it('HUMAN-API-09 HUMAN-API-17 is gone, and cannot be decided', async () => {
    const run = await waiting('short-2s');
    expect((await call(`/${run.id}`)).json()).toMatchObject({ request: { timeout_seconds: 2 } });
    const { status } = await end(run);
    expect(status?.reason).toBe('StateTimeout');
    expect(shown(await call(`/${run.id}`))).toEqual(gone);
    expect(shown(await approve(run.id))).toEqual(refused);
  });

  it('HUMAN-API-10 a decision around the deadline is the one that the workflow takes, or is refused', async () => {
    const runs = await Promise.all(Array.from({ length: 10 }, () => waiting('short-2sno')));
    await Promise.all(
      runs.map(async (run, index) => {
        const deadline = Date.parse((await objectOf(run)).status?.current?.deadline ?? '');
        await pause(Math.max(0, deadline - Date.now() - 40 + index * 8));
        const answer = await approve(run.id, {}, {}, index % 2);
        const { status } = await end(run);
        expect([200, 404]).toContain(answer.status);
        expect(status?.history?.[0]?.signal?.response).toBe(answer.status === 200 ? 'approved' : 'no');
      }),
    );
  });

  it('HUMAN-API-09 is gone when its execution is cancelled', async () => {
    const run = await waiting();
    const at = new Date().toISOString();
    const { username: by } = await world.kube.whoAmI();
    const ref = { namespace: world.tenant, name: run.name };
    await world.kube.mergePatch(workflowExecutions, ref, { spec: { cancel: { by, at } } });
    expect(shown(await call(`/${run.id}`))).toEqual(gone);
    expect(shown(await approve(run.id, {}, {}, 1))).toEqual(refused);
    expect((await end(run)).status?.phase).toBe('cancelled');
  });

  it('HUMAN-API-09 is gone when its execution is deleted', async () => {
    const run = await waiting();
    await world.kube.delete(workflowExecutions, { namespace: world.tenant, name: run.name });
    expect(shown(await call(`/${run.id}`))).toEqual(gone);
    expect(shown(await approve(run.id, {}, {}, 1))).toEqual(refused);
  });
});

describe('a response that matches no rule', () => {
  const unmatched = (...responses: string[]) => ({
    error: 'unmatched_response',
    code: 'unmatched_response',
    message: expect.stringContaining(`it takes ${responses.join(', ')}`),
    responses,
  });

  it('AMB-170 is refused over HTTP with those that would match; nothing is written, and a later one decides', async () => {
    const run = await waiting('yes-only');
    const signal = (response: string) =>
      world.http(`/v1/workflows/executions/${run.uid}/signal`, { token: ada, body: { response } });
    for (const answer of [await signal('maybe'), await reject(run.id, { reason: 'no' })]) {
      expect(answer.status).toBe(422);
      expect(answer.json()).toEqual(unmatched('approved'));
    }
    expect((await objectOf(run)).spec.signals ?? []).toEqual([]);
    expect((await signal('yes')).status).toBe(200);
    expect((await end(run)).status).toMatchObject({
      phase: 'completed',
      history: [{ signal: { response: 'yes' } }, {}],
    });
  });

  it('AMB-170 that kubectl has written is named by the message and an Event, and a later one decides', async () => {
    const run = await waiting('yes-only');
    const ref = { namespace: world.tenant, name: run.name };
    await sendSignal(world.kube, ref, { id: 'typo', state: 'ask', response: 'aproved' });
    const hasWarning = ({ status }: WorkflowExecution) => status?.message?.includes("'aproved' of") === true;
    const { status } = await waitForObject(world.kube, { resource: workflowExecutions, ...ref }, hasWarning);
    expect(status).toMatchObject({ phase: 'waiting', current: { signals_refused: 1 } });
    // Events are written behind the status.
    const isOurs = ({ reason, note }: KubeEvent): boolean =>
      reason === 'UnmatchedResponse' && note?.includes("'aproved' of") === true;
    const what = 'the Event of a response that matches no rule';
    const found = (view: View<KubeEvent>) => [...view.values()].find(isOurs);
    await waitForView(world.kube, { resource: events, namespace: world.tenant }, found, { what });
    expect((await approve(run.id)).status).toBe(200);
    expect((await end(run)).status?.phase).toBe('completed');
  });
});
