import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWindlassClient } from '../../../client/index.ts';
import { apiVersion } from '../../../crds/labels.ts';
import type { AgentSpec } from '../../../crds/schema/agent.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { userToken } from '../../../dev/oidc/sign-in.ts';
import { securityContexts } from '../../../lib/kinds.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import { podsOf } from '../chart/release.ts';
import { provider } from '../gateway/stage.ts';
import { connect, isNativeCluster } from '../harness/cluster.ts';
import { agentExecutions, agents } from '../harness/kinds.ts';
import { makeTestNamespace, type TestNamespace } from '../harness/test-namespace.ts';
import { waitForObject } from '../harness/wait.ts';
import { handCases, judgeCases } from './working/calls.ts';

const says = 'You say what your input says.';
const allowed = { sh: ['-c'], wc: ['-l'], pwd: [] };
const cmd = (more: object = {}) => ({
  name: 'cmd',
  executor: 'builtin:cmd',
  config: { subcommand_allowlist: allowed, ...more },
});
const scripted = (more: Partial<AgentSpec> = {}): AgentSpec => ({
  version: '1.0.0',
  runtime: { model: 'default' },
  task: { instruction: says },
  execution: { max_tool_calls: 100 },
  ...more,
});
const files = { name: 'fs.*' };
/** Agents whose inputs are lists of what their model replies. */
const agentsOfTest: Readonly<Record<string, AgentSpec>> = {
  hands: scripted({ tools: [cmd({ timeout_secs: 2 }), files], security: { context: 'hands' } }),
  // The manifest has no say in whether the judge looks.
  judged: scripted({ tools: [cmd({ skip_judge: true }), files], execution: { tool_validation: { enabled: true } } }),
  free: scripted({ tools: [cmd(), files], execution: { tool_validation: { enabled: false } } }),
  twice: scripted({ execution: { validation: { agent: 'accuracy', threshold: 0.7 } } }),
  accuracy: scripted({ task: { instruction: 'You judge the accuracy of an answer.' } }),
  asks: scripted({
    tools: [{ name: 'svc.script.list' }],
    approval: { tools: ['svc.script.list'], timeout_seconds: 3_600 },
  }),
  broken: scripted({ task: { instruction: '{{#if intent}}' } }),
  'agent-author': scripted({ tools: [{ name: 'svc.schema.get' }] }),
  'has-one-written': scripted({ tools: [{ name: 'svc.agent.generate' }], security: { context: 'hands' } }),
};

/** Needs the installation of dev/demo/install, with the scripted model as its only provider. */
describe.runIf(isNativeCluster())('an agent at work, through the whole system', () => {
  let kube: KubeClient;
  let tenant: TestNamespace;
  let api = '';
  let token = '';

  beforeAll(async () => {
    ({ kube } = await connect());
    tenant = await makeTestNamespace(kube, 'working');
    const namespace = tenant.name;
    const [replica] = await podsOf(kube, 'api');
    api = `http://${replica?.status?.podIP}:8080`;
    token = await userToken(provider(), { name: 'olga', tenant: namespace, roles: ['svc:operator'] });
    const contexts = {
      hands: { tools: ['*'], deny_list: ['/workspace/denied/**'] },
      default: { deny_list: ['svc.schema.get'] },
    };
    for (const [name, spec] of Object.entries(contexts))
      await kube.create(securityContexts, { apiVersion, kind: 'SecurityContext', metadata: { name, namespace }, spec });
    for (const [name, agent] of Object.entries(agentsOfTest))
      await kube.create(agents, { apiVersion, kind: 'Agent', metadata: { name, namespace }, spec: agent });
    const isJudged = ({
      status,
    }: {
      readonly status?: { readonly conditions?: readonly { readonly type: string }[] };
    }) => status?.conditions?.some(({ type }) => type === 'Ready') ?? false;
    await Promise.all(
      Object.keys(agentsOfTest).map((name) => waitForObject(kube, { resource: agents, namespace, name }, isJudged)),
    );
  });
  afterAll(async () => {
    await tenant?.remove();
    await kube.close();
  });

  const headers = () => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json' });
  const idOf = async (agent: string): Promise<string> =>
    (await kube.get(agents, { namespace: tenant.name, name: agent })).metadata.uid ?? '';

  async function post(agent: string, input: string): Promise<{ readonly status: number; readonly body: object }> {
    const body = JSON.stringify({ agent_id: await idOf(agent), input });
    const answer = await fetch(`${api}/v1/executions`, { method: 'POST', headers: headers(), body });
    return { status: answer.status, body: (await answer.json()) as object };
  }

  async function start(agent: string, turns: readonly object[]): Promise<string> {
    const { status, body } = await post(agent, JSON.stringify(turns));
    expect([status, Object.keys(body)]).toEqual([200, ['execution_id']]);
    return (body as { readonly execution_id: string }).execution_id;
  }

  async function objectOf(id: string): Promise<AgentExecution> {
    const { items } = await kube.listAll(agentExecutions, { namespace: tenant.name });
    const found = items.find(({ metadata }) => metadata.uid === id);
    if (found === undefined) throw new Error(`there is no execution ${id}`);
    return found;
  }

  async function follow(
    id: string,
    what: 'stream' | 'events',
  ): Promise<{ readonly type: string | null; readonly data: object[] }> {
    const answer = await fetch(`${api}/v1/executions/${id}/${what}`, { headers: headers() });
    const lines = (await answer.text()).split('\n').filter((line) => line.startsWith('data:'));
    return { type: answer.headers.get('content-type'), data: lines.map((line) => JSON.parse(line.slice(5)) as object) };
  }

  async function callsOf(agent: string, calls: readonly { readonly tool: string; readonly args: object }[]) {
    const turns = calls.map(({ tool, args }) => ({ tool_calls: [{ name: tool, arguments: args }] }));
    const id = await start(agent, [...turns, { content: 'done' }]);
    await follow(id, 'stream');
    const ends = await endsOf(id);
    expect(ends).toHaveLength(calls.length);
    return ends;
  }

  /** Records of the calls of an execution that have ended. */
  async function endsOf(id: string) {
    const client = createWindlassClient({ server: api, token });
    const ends: { readonly content: string; readonly is_error: boolean; readonly ran: boolean }[] = [];
    for (let cursor: string | undefined, isMore = true; isMore; isMore = cursor !== undefined) {
      const page = await client.readAgentTranscript({ execution_id: id, ...(cursor === undefined ? {} : { cursor }) });
      ends.push(
        ...(page.records as unknown as ((typeof ends)[number] & { kind: string })[]).filter(
          ({ kind }) => kind === 'tool_ended',
        ),
      );
      cursor = page.next_cursor ?? undefined;
    }
    return ends;
  }

  it('EXEC-06 EXEC-07 EXEC-09 EXEC-10 EXEC-11 EXEC-12 EXEC-13 streams two iterations with exact fields, in order', async () => {
    // The judge sees this text as it is here, and the words that it refuses in the answer alone.
    const input = '[{"content": "First\\u0020draft"}, {"content": "From 60 s to 30 s."}]';
    const { body } = await post('twice', input);
    const { execution_id } = body as { readonly execution_id: string };
    const { type, data } = await follow(execution_id, 'stream');
    expect(type).toMatch(/^text\/event-stream/);
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/) as string;
    const iteration = (number: number, action: unknown, output: string) => [
      { iteration_started: { execution_id, iteration_number: number, action, started_at: at } },
      { iteration_completed: { execution_id, iteration_number: number, output, completed_at: at } },
    ];
    const text = expect.any(String) as string;
    const final_output = 'From 60 s to 30 s.';
    expect(data).toEqual([
      { execution_started: { execution_id, agent_id: await idOf('twice'), started_at: at } },
      ...iteration(1, text, 'First draft'),
      ...iteration(2, text, final_output),
      { execution_completed: { execution_id, final_output, total_iterations: 2, completed_at: at } },
    ]);
    const raw = await follow(execution_id, 'events');
    expect(raw.type).toMatch(/^text\/event-stream/);
    expect(JSON.stringify(raw.data)).toContain('model_replied');
  });

  it('EXEC-03 answers while the agent still works', async () => {
    const id = await start('asks', [{ tool_calls: [{ name: 'svc.script.list', arguments: {} }] }]);
    expect((await objectOf(id)).status?.finished_at).toBeUndefined();
    await fetch(`${api}/v1/executions/${id}/cancel`, { method: 'POST', headers: headers(), body: '{}' });
  });

  it('EXEC-05 answers 500 with a sentence where the agent cannot start', async () => {
    const { status, body } = await post('broken', 'x');
    expect([status, body]).toMatchObject([
      500,
      { error: expect.stringMatching(/^agent broken cannot run: /) as string },
    ]);
  });

  it('runs commands and file operations in its container, each refused one with its own code', async () => {
    const ends = await callsOf('hands', handCases);
    for (const [index, { id, tool, args, is_error, want }] of handCases.entries()) {
      const seen = { id, tool, args, is_error: ends[index]?.is_error, content: ends[index]?.content };
      expect(seen).toEqual({ id, tool, args, is_error, content: expect.stringMatching(want) as string });
    }
  }, 180_000);

  it('TOOL-RULE-08 an agent is written in the default security context, whatever that of the caller permits', async () => {
    const look = { tool_calls: [{ name: 'svc.schema.get', arguments: { key: 'Agent' } }] };
    const generate = {
      tool: 'svc.agent.generate',
      args: { input: JSON.stringify([look, { content: 'kind: Agent' }]) },
    };
    const [written] = await callsOf('has-one-written', [generate]);
    const draft = JSON.parse(written?.content ?? '') as { readonly execution_id: string };
    expect(draft).toMatchObject({ status: 'completed', manifest_yaml: 'kind: Agent', valid: false });
    expect(await endsOf(draft.execution_id)).toMatchObject([
      { ran: false, content: expect.stringMatching(/^ToolNotAllowed: svc\.schema\.get is in deny_list/) },
    ]);
    const spec = { version: '1.1.0', security: { context: 'hands' } };
    await kube.mergePatch(agents, { namespace: tenant.name, name: 'agent-author' }, { spec });
    const client = createWindlassClient({ server: api, token });
    const versionNow = async (): Promise<unknown> =>
      (await client.readAgent({ agent: 'agent-author' })).metadata.version;
    await expect.poll(versionNow, { timeout: 30_000 }).toBe('1.1.0');
    expect(await callsOf('has-one-written', [generate])).toMatchObject([
      { is_error: true, content: expect.stringMatching(/^PERMISSION_DENIED: agent-author must run in the security/) },
    ]);
  }, 180_000);

  it.each(['judged', 'free'] as const)(
    'AGENT-16 TOOL-RULE-01 TOOL-RULE-02 TOOL-RULE-05 calls of an agent that is %s',
    async (agent) => {
      const ends = await callsOf(agent, judgeCases);
      for (const [index, { tool, args, refused, runs }] of judgeCases.entries()) {
        const isRefused = agent === 'judged' && refused;
        const want = isRefused
          ? /^ToolCallRefused: the judge of tool calls refused it: Its text is forbidden\.$/
          : runs;
        expect({ tool, args, ...ends[index] }).toMatchObject({
          tool,
          args,
          ran: !isRefused,
          content: expect.stringMatching(want) as string,
        });
      }
    },
    180_000,
  );
});
