import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WindlassApiError } from '../../../client/index.ts';
import { pods } from '../../../lib/kube/index.ts';
import { busybox } from '../../builders/workflow-builder.ts';
import { bundleProgram, type Result, startProgram } from '../cli/program.ts';
import { isNativeCluster } from '../harness/cluster.ts';
import { isFinished } from '../harness/executions.ts';
import { workflowExecutions } from '../harness/kinds.ts';
import { podLog } from '../harness/pod-log.ts';
import { pause, waitForObject, waitForView } from '../harness/wait.ts';
import { envelopeOf, type GatewayStage, invoke, openGatewayStage, type SigningSession } from './stage.ts';

const order = { customer: 'ada', item: 'tea', quantity: 2 };
const operations = ['POST /customers/find', 'GET /goods', 'POST /reservations', 'POST /orders', 'POST /confirmations'];

/** Two replicas as the chart runs them, and the API beside them. */
describe.runIf(isNativeCluster())('the installed tool gateway', () => {
  let stage: GatewayStage;
  let session: SigningSession;
  let main: string;
  let folder: string;
  let apiId: string;

  beforeAll(async () => {
    [stage, main, folder] = await Promise.all([
      openGatewayStage('gateway'),
      bundleProgram('gateway-cli'),
      mkdtemp(join(tmpdir(), 'windlass-gateway-')),
    ]);
    apiId = await stage.desk.register(await stage.client(['svc:admin']));
    const cli = {
      name: 'text.split',
      description: 'Writes on both streams.',
      input_schema: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } },
      image: busybox,
      command: ['sh', '-c', 'printf %s "$1"; echo "of $#" >&2; exit 3', 'split', '{{input.text}}'],
    };
    await (await stage.client()).registerCliTool({ body: cli });
    session = await stage.session();
    await stage.warmUp();
  });
  afterAll(async () => {
    await stage?.strike();
    await rm(folder, { recursive: true, force: true });
  });

  const refusalOf = (error: unknown): object =>
    error instanceof WindlassApiError ? { status: error.status, error: error.error } : { thrown: error };

  it('GW-OP-05 GW-OP-08 takes operators of the provider alone', async () => {
    const person = await stage.client([]).then((client) => client.listApiSpecs().catch(refusalOf));
    expect(person).toMatchObject({ status: 403 });
    const [{ url }] = await stage.replicas();
    expect((await fetch(`${url}/v1/specs`)).status).toBe(401);
  });

  it('opens internal networks for an svc:admin alone', async () => {
    const body = { name: 'inside', document: '{}', allow_internal_addresses: ['10.0.0.0/8'] };
    const refused = await (await stage.client()).registerApiSpec({ body }).catch(refusalOf);
    expect(refused).toMatchObject({ status: 403 });
  });

  it('GW-OP-16 GW-OP-17 GW-OP-20 GW-WF-02 shows on both replicas what one has registered', async () => {
    const replicas = await stage.replicas();
    expect(replicas).toHaveLength(2);
    for (const { url } of replicas) {
      const client = await stage.client(['svc:operator'], url);
      await expect
        .poll(async () => (await client.listToolWorkflows()).items, { timeout: 10_000 })
        .toMatchObject([{ name: 'orders.place', api_spec_id: apiId, step_count: 5, ready: { status: 'True' } }]);
      const { items } = await client.listTools({ q: 'order' });
      const [tool] = items.filter(({ name }) => name === 'orders.place');
      expect(tool).toMatchObject({ source: 'workflow', description: expect.stringContaining('Orders goods') });
    }
  });

  it('GW-WF-29 GW-WF-41 GW-OP-19 answers once the other replica has heard of a tool, and of its deletion', async () => {
    const [one, two] = await stage.replicas();
    const [here, there] = [
      await stage.client(['svc:operator'], one?.url),
      await stage.client(['svc:operator'], two?.url),
    ];
    const [known] = (await here.listToolWorkflows()).items;
    const { description, input_schema, steps } = await here.readToolWorkflow({ id: known?.id ?? '' });
    for (let round = 0; round < 5; round += 1) {
      const name = `orders.copy${round}`;
      const body = { name, description, input_schema, api_spec_id: apiId, steps };
      const { id } = await here.registerToolWorkflow({ body });
      expect((await there.listTools({ q: name })).items).toMatchObject([{ name }]);
      await here.deleteToolWorkflow({ id });
      expect((await stage.call(session, { tool: name, args: order }, two?.url)).status).toBe(404);
    }
  });

  it('GW-INV-01 GW-WF-08 GW-WF-14 GW-WF-26 runs five operations of one signed call, on either replica and path', async () => {
    const before = (await stage.desk.operations()).length;
    const calls = await Promise.all(
      (await stage.replicas()).flatMap(({ url }) =>
        (['/v1/invoke', '/v1/seal/invoke'] as const).map((path) =>
          stage.call(session, { tool: 'orders.place', args: { ...order, quantity: path.length }, path }, url),
        ),
      ),
    );
    for (const { status, result } of calls) {
      expect(status).toBe(200);
      expect(result).toMatchObject({
        isError: false,
        structuredContent: {
          execution_id: session.executionId,
          result: { number: expect.stringMatching(/^2026-\d{4}$/), customer: 'ada', status: 'confirmed' },
          state: { 'customer.id': 'c-1', 'good.sku': 'g-tea', 'order.id': expect.stringMatching(/^o-\d+$/) },
        },
      });
    }
    const arrived = (await stage.desk.operations()).slice(before);
    for (const operation of operations) expect(arrived.filter((each) => each === operation)).toHaveLength(4);
    expect(arrived).toHaveLength(20);
  });

  it('GW-WF-31 an operation that fails ends the chain, and the answer names the step', async () => {
    const args = { ...order, item: 'ink', quantity: 90 };
    const { status, result } = await stage.call(session, { tool: 'orders.place', args });
    expect([status, result]).toMatchObject([200, { isError: true }]);
    expect(result?.content[0]?.text).toMatch(/^step 'reservation' failed: .*409/);
  });

  it('GW-INV-19 GW-INV-22 sends nothing for arguments that do not fit', async () => {
    const before = (await stage.desk.operations()).length;
    const refused = await stage.call(session, { tool: 'orders.place', args: { customer: 'ada', item: 'tea' } });
    expect(refused).toMatchObject({ status: 422, error: { code: -32_602, data: null } });
    expect((await stage.desk.operations()).length).toBe(before);
  });

  it('runs a CLI tool in a pod, and answers both streams and the exit code', async () => {
    const text = `a "quoted" $(id) text`;
    const { status, result } = await stage.call(session, { tool: 'text.split', args: { text } });
    expect(status).toBe(200);
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { stdout: text, stderr: 'of 1\n', exit_code: 3 },
    });
    const { execution: name } = (result?.structuredContent ?? {}) as { execution: string };
    const { items } = await stage.kube.listAll(pods, {
      namespace: stage.tenant,
      labelSelector: `windlass.dev/execution=${name}`,
    });
    const execution = await stage.kube.get(workflowExecutions, { namespace: stage.tenant, name });
    expect(execution.status?.history).toHaveLength(1);
    expect(items.map(({ spec }) => spec.containers[0]?.image)).toEqual([busybox]);
  });

  it('gives a CLI tool its standard input and its files, byte for byte', async () => {
    const fed = {
      name: 'text.fed',
      description: 'Writes its standard input, and then its file.',
      input_schema: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } },
      image: busybox,
      command: ['cat', '-', 'in/data.txt'],
      stdin: '{{input.text}}',
      files: [{ path: 'in/data.txt', content: '[{{input.text}}]' }],
    };
    await (await stage.client()).registerCliTool({ body: fed });
    const text = '--file ../x $(id) `id`\n"é"\n';
    const { result } = await stage.call(session, { tool: 'text.fed', args: { text } });
    expect(result).toMatchObject({
      isError: false,
      structuredContent: { stdout: `${text}[${text}]`, stderr: '', exit_code: 0 },
    });
  });

  it('runs nothing for a standard input that no argument has room for', async () => {
    const args = (bytes: number) => ({ text: 'x'.repeat(bytes) });
    const { result } = await stage.call(session, { tool: 'text.fed', args: args(131_072) });
    expect(result).toMatchObject({ isError: true });
    expect(result?.content[0]?.text).toContain('has 131072 bytes and a process takes 131071');
  });

  it('runs a built-in tool over the bus', async () => {
    const { status, result } = await stage.call(session, { tool: 'svc.tools.list' });
    expect([status, result]).toMatchObject([200, { isError: false }]);
    expect(result?.content[0]?.text).toContain('svc.tools.list');
  });

  it('GW-SESS-08 GW-INV-18 keeps a session to its patterns', async () => {
    const narrow = await stage.session({ patterns: ['text.*'] });
    expect(await stage.call(narrow, { tool: 'orders.place', args: order })).toMatchObject({
      status: 403,
      error: { code: -32_000, message: expect.stringContaining('does not permit the tool orders.place') },
    });
  });

  it('GW-INV-17 takes an envelope once, over both replicas', async () => {
    const [first, second = first] = await stage.replicas();
    const body = envelopeOf(session, { tool: 'svc.tools.list' });
    const answers = await Promise.all([first, second].map(({ url }) => invoke(`${url}/v1/invoke`, body)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 401]));
  });

  it('GW-SESS-10 GW-OP-15 refuses on every replica the next call of a session that was revoked', async () => {
    const short = await stage.session();
    const replicas = await stage.replicas();
    for (const { url } of replicas) expect((await stage.call(short, { tool: 'svc.tools.list' }, url)).status).toBe(200);
    await (await stage.client()).revokeSession({ execution_id: short.executionId });
    for (const { url } of replicas) {
      expect(await stage.call(short, { tool: 'orders.place', args: order }, url)).toMatchObject({
        status: 403,
        error: { message: expect.stringContaining('the session is not active') },
      });
    }
  });

  it('GW-SESS-10 begins no call of a session after its revocation has answered, of 200 that are under way', async () => {
    const busy = await stage.session();
    const replicas = await stage.replicas();
    const client = await stage.client();
    const statuses: number[] = [];
    const caller = async (_: unknown, index: number): Promise<void> => {
      while (!statuses.some((status) => status !== 200)) {
        const { url } = replicas[index % replicas.length] ?? replicas[0];
        statuses.push((await stage.call(busy, { tool: 'orders.place', args: order }, url)).status);
      }
    };
    const callers = Array.from({ length: 200 }, caller);
    while (statuses.length === 0) await pause(20);
    await client.revokeSession({ execution_id: busy.executionId });
    const revokedAt = Date.now();
    const sent = (await stage.desk.operations()).length;
    await Promise.all(callers);
    expect(new Set(statuses)).toEqual(new Set([200, 403]));
    // Those under way have ended before the answer, so nothing is sent after it.
    expect((await stage.desk.operations()).length).toBe(sent);
    const started = (await stage.events()).filter(
      ({ type, data }) => type === 'ToolInvocationStarted' && data['execution_id'] === busy.executionId,
    );
    expect(started).toHaveLength(statuses.filter((status) => status === 200).length);
    expect(started.filter(({ time }) => Date.parse(time) > revokedAt)).toEqual([]);
  });

  it('cancels the execution of a CLI tool whose caller is gone', async () => {
    const slow = {
      name: 'text.wait',
      description: 'Waits.',
      input_schema: { type: 'object' },
      image: busybox,
      command: ['sleep', '120'],
    };
    await (await stage.client()).registerCliTool({ body: slow });
    const [{ url }] = await stage.replicas();
    const gone = new AbortController();
    const send = invoke(`${url}/v1/invoke`, envelopeOf(session, { tool: 'text.wait' }), gone.signal);
    const runs = { resource: workflowExecutions, namespace: stage.tenant, labelSelector: 'windlass.dev/cli-tool' };
    const running = await waitForView(stage.kube, runs, (view) =>
      [...view.values()].find(({ status }) => status?.phase === 'running'),
    );
    gone.abort();
    await expect(send).rejects.toThrow('aborted');
    const { status } = await waitForObject(
      stage.kube,
      { resource: workflowExecutions, namespace: stage.tenant, name: running.metadata.name },
      isFinished,
    );
    expect(status?.phase).toBe('cancelled');
  });

  it('GW-EVT-01 GW-EVT-02 GW-EVT-03 GW-EVT-04 GW-EVT-05 GW-EVT-06 has written what it did', async () => {
    const all = await stage.events();
    const events = all.filter(({ data }) => data['execution_id'] === session.executionId);
    const [registered] = all.filter(
      ({ type, data }) => type === 'WorkflowRegistered' && data['name'] === 'orders.place',
    );
    expect(registered).toMatchObject({ subject: 'olga', data: { name: 'orders.place', step_count: 5 } });
    const [started] = events.filter(({ type }) => type === 'WorkflowInvocationStarted');
    const ofCall = events.filter(({ invocationid: id }) => id === started?.invocationid);
    const step = (name: string) => [
      ['WorkflowStepStarted', name],
      ['WorkflowStepExecuted', name],
    ];
    expect(ofCall.map(({ type, data }) => [type, ...('step' in data ? [data['step']] : [])])).toEqual([
      ['ToolInvocationStarted'],
      ['WorkflowInvocationStarted'],
      ['CredentialExchangeCompleted'],
      ...['customer', 'good', 'reservation', 'order', 'confirmation'].flatMap(step),
      ['WorkflowInvocationCompleted'],
      ['ToolInvocationCompleted'],
    ]);
    expect(ofCall.find(({ type }) => type === 'WorkflowStepExecuted')?.data).toMatchObject({ http_status: 200 });
    const [failed] = events.filter(({ type }) => type === 'WorkflowInvocationFailed');
    expect(failed?.data).toMatchObject({ failed_step: 'reservation', reason: expect.stringContaining('409') });
    const completed = events.filter(({ type }) => type === 'ToolInvocationCompleted').map(({ data }) => data);
    expect(completed).toContainEqual(expect.objectContaining({ source: 'cli', outcome: 'tool_error' }));
    expect(completed).toContainEqual(expect.objectContaining({ source: 'builtin', outcome: 'ok' }));
  });

  it('GW-EVT-06 the credential of a labelled Secret reaches the upstream, and nothing that a user reads', async () => {
    expect(await stage.desk.log()).toContain('"key":"right"');
    const client = await stage.client();
    const answer = await stage.call(session, { tool: 'orders.place', args: order });
    const { kube } = stage;
    const logs = await Promise.all(
      ['gateway', 'api', 'controllers'].map(async (component) => {
        const labelSelector = `app.kubernetes.io/name=windlass,app.kubernetes.io/component=${component}`;
        const { items } = await kube.listAll(pods, { namespace: 'windlass-system', labelSelector });
        return Promise.all(
          items.map(({ metadata: { name = '' } }) => podLog(kube, { namespace: 'windlass-system', name })),
        );
      }),
    );
    const read = {
      answer: answer.text,
      specs: JSON.stringify([await client.listApiSpecs(), await client.readApiSpec({ id: apiId })]),
      tools: JSON.stringify(await client.listTools()),
      events: JSON.stringify(await stage.events()),
      logs: logs.flat().join('\n'),
      desk: await stage.desk.log(),
    };
    expect(read.logs).toContain('"serving"');
    const { key } = stage.desk;
    const forms = [key, Buffer.from(key).toString('base64')];
    const holding = Object.entries(read).filter(([, text]) => forms.some((form) => text.includes(form)));
    expect(holding.map(([place]) => place)).toEqual([]);
  });

  describe('with the command line', () => {
    const run = async (...args: readonly string[]): Promise<Result> => {
      const [{ url }] = await stage.replicas();
      const env = {
        PATH: process.env.PATH,
        HOME: folder,
        WINDLASS_GATEWAY: url,
        WINDLASS_SERVER: stage.api,
        WINDLASS_TOKEN: await stage.token(['svc:operator']),
      };
      return startProgram(main, args, env).result;
    };

    it('GW-OP-12 GW-OP-13 makes a session, lists tools, and calls one by a signed envelope', async () => {
      const file = join(folder, 'session.json');
      // One installation has an id once, whatever the tenant.
      const id = `cli-${stage.tenant}`;
      const made = await run('gateway', 'session', 'create', id, '--tool', 'orders.*', '--out', file);
      expect(made).toMatchObject({ code: 0 });
      expect((await run('gateway', 'session', 'list')).stdout).toMatch(new RegExp(`^${id} +${id} +default `, 'm'));
      expect((await run('tools', 'list', '-o', 'name')).stdout.split('\n')).toContain('orders.place');
      expect((await run('tools', 'list')).stdout).toMatch(/^orders\.place +workflow +True$/m);
      const inputs = Object.entries(order).flatMap(([name, value]) => ['-i', `${name}=${value}`]);
      const called = await run('tools', 'call', 'orders.place', '--sign', file, ...inputs);
      expect(called).toMatchObject({ code: 0 });
      expect(JSON.parse(called.stdout)).toMatchObject({ result: { customer: 'ada', total: 810 } });
      expect(await run('gateway', 'session', 'revoke', id)).toMatchObject({ code: 0 });
      expect(await run('tools', 'call', 'orders.place', '--sign', file, ...inputs)).toMatchObject({ code: 7 });
    });

    it('proves that no audit event is missing or changed', async () => {
      const listed = await run('gateway', 'audit', 'list', '--type', 'SessionRevoked');
      expect(listed.stdout).toContain('SessionRevoked');
      const verified = await run('gateway', 'audit', 'verify');
      expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('none is missing or changed') });
    });
  });
});
