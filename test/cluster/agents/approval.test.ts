import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Agent } from '../../../crds/schema/agent.ts';
import type { AgentAsk, AgentExecution, AgentSignal } from '../../../crds/schema/agent-execution.ts';
import { agentExecutions, agents } from '../../../lib/kinds.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import { runCli } from '../../support/cli.ts';
import { type Answer, createSend, type Send } from '../admission/api.ts';
import { apiPods, freshApiPods, killApiPods } from '../harness/api-pods.ts';
import { connect } from '../harness/cluster.ts';
import { projectDir } from '../harness/project.ts';
import { waitForObject } from '../harness/wait.ts';

const namespace = 'tenant-demo';
const mergePatch = { contentType: 'application/merge-patch+json' } as const;

/** Needs the installation of dev/demo/install, with the scripted model as its only provider. */
describe('a tool call that waits for a person, through the whole system', () => {
  let kube: KubeClient;
  let send: Send;
  let kubeconfig: string;
  let me: string;

  beforeAll(async () => {
    ({ kube, kubeconfig } = await connect());
    send = await createSend(kubeconfig);
    me = (await kube.whoAmI()).username;
    const file = join(projectDir, 'examples/agents/note-keeper.yaml');
    const example = parse(readFileSync(file, 'utf8')) as Agent;
    for (const [name, seconds] of [
      ['asked-keeper', 600],
      ['hasty-keeper', 3],
    ] as const) {
      const approval = { tools: ['cmd'], timeout_seconds: seconds };
      // The namespace lasts: an earlier run may have left the agent with other content.
      const metadata = { name, namespace, annotations: { 'windlass.dev/force': 'true' } };
      const object = { ...example, metadata, spec: { ...example.spec, approval } };
      await kube.apply(agents, object, { fieldManager: 'test', force: true });
    }
  });
  afterAll(() => kube.close());

  const until = (name: string, done: (execution: AgentExecution) => boolean): Promise<AgentExecution> =>
    waitForObject(kube, { resource: agentExecutions, namespace, name }, done, { timeoutMs: 150_000 });
  const end = (name: string) => until(name, ({ status }) => status?.finished_at !== undefined);

  /** Starts an execution, and resolves when its call waits and its status says so. */
  async function waiting(title: string): Promise<{ readonly name: string; readonly ask: AgentAsk }> {
    // A test that is tried again starts others.
    const name = `${title}-${Date.now().toString(36)}`;
    await kube.create(agentExecutions, {
      apiVersion: 'windlass.dev/v1',
      kind: 'AgentExecution',
      metadata: { name, namespace },
      spec: { agent: 'asked-keeper', input: 'Keep two notes.' },
    });
    const { spec } = await until(name, ({ status }) => status?.phase === 'waiting');
    if (spec.ask === undefined) throw new Error('it waits and asks nothing');
    return { name, ask: spec.ask };
  }

  const cli = (...argv: string[]) => runCli([...argv, '-n', namespace], { KUBECONFIG: kubeconfig });
  const path = (name: string): string => `/apis/windlass.dev/v1/namespaces/${namespace}/agentexecutions/${name}`;
  const patch = (name: string, spec: object, as?: string): Promise<Answer> =>
    send('PATCH', path(name), { spec }, { ...mergePatch, ...(as === undefined ? {} : { as }) });
  const answerTo = (ask: AgentAsk, fields: Partial<AgentSignal> = {}): AgentSignal => ({
    id: ask.id,
    response: 'approved',
    by: me,
    at: new Date().toISOString(),
    ...fields,
  });

  it('shows the question, and continues when the command line approves', async () => {
    const { name, ask } = await waiting('approved');
    expect(ask).toMatchObject({ tool: 'cmd.run', arguments: '{"command":"wc","args":["-l","notes.txt"]}' });
    const { status } = await kube.get(agentExecutions, { namespace, name });
    expect(status).toMatchObject({
      phase: 'waiting',
      reason: 'WaitingForApproval',
      conditions: [{ type: 'Succeeded', status: 'Unknown', reason: 'WaitingForApproval' }],
    });
    const listed = await cli('approvals');
    expect(listed.out).toMatch(new RegExp(`${name} +agent asked-keeper .*asks to call cmd.run with`));
    const approved = await cli('approve', name);
    expect(approved).toMatchObject({ code: 0, out: `${name}: the tool call is approved as ${me}` });
    const { spec } = await end(name);
    expect(spec.result).toMatchObject({ phase: 'completed', tool_calls: 3 });
    expect(spec.signals).toMatchObject([{ id: ask.id, response: 'approved', by: me, via: 'cli' }]);
    expect(spec).not.toHaveProperty('ask');
    expect(await cli('approve', name)).toMatchObject({ code: 4 });
  });

  it('does not run where it is rejected', async () => {
    const { name } = await waiting('rejected');
    expect(await cli('reject', name, '--reason', 'not now')).toMatchObject({ code: 0 });
    const { spec } = await end(name);
    expect(spec.result).toMatchObject({ phase: 'completed', tool_calls: 2 });
    expect(spec.signals).toMatchObject([{ response: 'rejected', feedback: 'not now' }]);
  });

  it('is refused where no answer comes in time', async () => {
    const name = `hasty-${Date.now().toString(36)}`;
    await kube.create(agentExecutions, {
      apiVersion: 'windlass.dev/v1',
      kind: 'AgentExecution',
      metadata: { name, namespace },
      spec: { agent: 'hasty-keeper', input: 'Keep two notes.' },
    });
    const { spec } = await end(name);
    expect(spec.result).toMatchObject({ phase: 'completed', tool_calls: 2 });
    expect(spec.signals).toBeUndefined();
  });

  it('takes an answer of kubectl with the name of its user, and no other', async () => {
    const { name, ask } = await waiting('forged');
    const other = '00000000-0000-4000-8000-000000000000';
    const refused: [signal: AgentSignal, status: number, message: RegExp][] = [
      [answerTo(ask, { by: 'ada' }), 403, /spec\.signals.+by: must be /],
      [answerTo(ask, { via: 'api' }), 403, /via: api is written by the Windlass API only/],
      [answerTo(ask, { id: other }), 422, /must have the id of spec\.ask/],
      [answerTo(ask, { response: 'maybe' as 'approved' }), 422, /Unsupported value/],
      [answerTo(ask, { feedback: 'x'.repeat(8_193) }), 422, /Too long/],
    ];
    for (const [signal, status, message] of refused) {
      const answer = await patch(name, { signals: [signal] });
      expect([answer.status, answer.message]).toEqual([status, expect.stringMatching(message)]);
    }
    const forgedAsk = await patch(name, { ask: { ...ask, id: other } });
    expect([forgedAsk.status, forgedAsk.message]).toEqual([403, expect.stringMatching(/spec\.ask: is written by/)]);
    expect((await patch(name, { ask: null })).status).toBe(403);
    expect((await patch(name, { signals: [answerTo(ask)] })).status).toBe(200);
    expect((await patch(name, { signals: [answerTo(ask, { response: 'rejected' })] })).status).toBe(422);
    expect((await patch(name, { signals: null })).status).toBe(422);
    expect((await end(name)).spec.result).toMatchObject({ phase: 'completed', tool_calls: 3 });
    expect((await patch(name, { signals: [answerTo(ask), answerTo(ask, { id: other })] })).status).toBe(422);
  });

  it('is answered by none that stood there before it was asked', async () => {
    const ask = { id: '00000000-0000-4000-8000-000000000000', tool: 't', arguments: '{}', asked_at: '', until: '' };
    const times = { asked_at: '2026-01-01T00:00:00Z', until: '2099-01-01T00:00:00Z' };
    const made = (spec: object) =>
      send('POST', `${path('')}?dryRun=All`, {
        apiVersion: 'windlass.dev/v1',
        kind: 'AgentExecution',
        metadata: { name: 'early' },
        spec: { agent: 'asked-keeper', ...spec },
      });
    const early = await made({ signals: [answerTo(ask)] });
    expect([early.status, early.message]).toEqual([422, expect.stringMatching(/begins without answers/)]);
    expect((await made({ ask: { ...ask, ...times } })).status).toBe(403);
  });

  it('survives every replica of the API, and runs once', async () => {
    const { name, ask } = await waiting('killed');
    const killed = await apiPods(kube);
    await killApiPods(kube, killed);
    // Answered while no replica is there to hear of it.
    expect((await patch(name, { signals: [answerTo(ask)] })).status).toBe(200);
    await freshApiPods(kube, killed);
    const { spec } = await end(name);
    expect(spec.result).toMatchObject({ phase: 'completed', tool_calls: 3, iterations: 1 });
  });
});
