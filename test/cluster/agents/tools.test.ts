import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createWindlassClient } from '../../../client/index.ts';
import type { Agent } from '../../../crds/schema/agent.ts';
import type { AgentExecution, AgentExecutionSpec } from '../../../crds/schema/agent-execution.ts';
import { userToken } from '../../../dev/oidc/sign-in.ts';
import { agentExecutions, agents } from '../../../lib/kinds.ts';
import { type KubeClient, pods } from '../../../lib/kube/index.ts';
import { provider } from '../gateway/stage.ts';
import { apiPods, freshApiPods, killApiPods } from '../harness/api-pods.ts';
import { connect, isNativeCluster } from '../harness/cluster.ts';
import { projectDir } from '../harness/project.ts';
import { waitForObject } from '../harness/wait.ts';

const namespace = 'tenant-demo';

/** Needs the installation of dev/demo/install, with the scripted model as its only provider. */
describe('an agent with tools, through the whole system', () => {
  let kube: KubeClient;

  beforeAll(async () => {
    ({ kube } = await connect());
    const file = join(projectDir, 'examples/agents/note-keeper.yaml');
    const example = parse(readFileSync(file, 'utf8')) as Agent;
    const strict: Agent = {
      ...example,
      metadata: { name: 'note-reader' },
      spec: { ...example.spec, tools: [{ name: 'fs.read' }] },
    };
    const waiter: Agent = {
      ...example,
      metadata: { name: 'note-waiter' },
      spec: {
        version: '1.0.0',
        task: { instruction: 'You say what your input says.' },
        tools: [{ name: 'svc.task.wait' }],
      },
    };
    for (const agent of [example, strict, waiter]) {
      const object = { ...agent, metadata: { ...agent.metadata, namespace } };
      await kube.apply(agents, object, { fieldManager: 'test', force: true });
    }
  });
  afterAll(() => kube.close());

  const start = async (name: string, spec: Partial<AgentExecutionSpec> = {}): Promise<string> => {
    // A test that is tried again starts others.
    const full = `${name}-${Date.now().toString(36)}`;
    await kube.create(agentExecutions, {
      apiVersion: 'windlass.dev/v1',
      kind: 'AgentExecution',
      metadata: { name: full, namespace },
      spec: { agent: 'note-keeper', input: 'Keep two notes.', ...spec },
    });
    return full;
  };
  const end = (name: string): Promise<AgentExecution> =>
    waitForObject(
      kube,
      { resource: agentExecutions, namespace, name },
      ({ status }) => status?.finished_at !== undefined,
      {
        timeoutMs: 150_000,
      },
    );

  it('DISPATCH-20 TOOL-FS-02 TOOL-FS-03 TOOL-CMD-01 TOOL-CMD-02 TOOL-CMD-07 writes, counts and reads in its container, and is refused a command', async () => {
    const { spec, status } = await end(await start('notes'));
    expect(spec.result).toMatchObject({
      phase: 'completed',
      output: 'notes.txt holds 2 notes; the last one is: second note.',
      tool_calls: 3,
      iterations: 1,
      provider: 'scripted',
    });
    expect(status).toMatchObject({ phase: 'completed', tool_calls: 3, pod: { attempt: 1 } });
    const pod = await kube.get(pods, { namespace, name: status?.pod?.name ?? '' });
    const env = pod.spec.containers.flatMap((container) => (container.env ?? []).map(({ name }) => name));
    expect(env.filter((name) => /KEY|SECRET|PASSWORD/.test(name))).toEqual([]);
  });

  it('AGENT-15 TOOL-CMD-06 an agent without a tool is refused it, and no container runs it', async () => {
    const { spec } = await end(await start('reader', { agent: 'note-reader', timeout: '60s' }));
    expect(spec.result).toMatchObject({ phase: 'failed', tool_calls: 1 });
  });

  /** Kinds of the records of an execution, by a replica that answers now. */
  async function recordsOf(execution_id: string) {
    const [replica] = await apiPods(kube);
    const token = await userToken(provider(), { name: 'olga', tenant: 'demo', roles: [] });
    const client = createWindlassClient({ server: `http://${replica?.status?.podIP}:8080`, token });
    return (await client.readAgentTranscript({ execution_id })).records as unknown as readonly {
      readonly kind: string;
      readonly content?: string;
    }[];
  }

  it.runIf(isNativeCluster())(
    'a call of a model and a tool that may be repeated are made again where all replicas are killed in their midst, with one outcome',
    async () => {
      const asked = await start('asked-again', { agent: 'note-waiter', input: 'Answer when you are asked again.' });
      const { metadata } = await kube.get(agentExecutions, { namespace, name: asked });
      const call = { name: 'svc.task.wait', arguments: { execution_id: metadata.uid, timeout_secs: 120 } };
      const turns = [{ tool_calls: [call] }, { content: 'It has ended.' }];
      const waits = await start('waits', { agent: 'note-waiter', input: JSON.stringify(turns) });
      const has = async (name: string, kind: string): Promise<boolean> =>
        (await recordsOf(name)).some((record) => record.kind === kind);
      await expect.poll(() => has(asked, 'model_asked'), { timeout: 30_000 }).toBe(true);
      await expect.poll(() => has(waits, 'tool_started'), { timeout: 30_000 }).toBe(true);
      const replicas = await apiPods(kube);
      await killApiPods(kube, replicas);
      await freshApiPods(kube, replicas);
      const ends = await Promise.all([asked, waits].map(end));
      expect(ends.map(({ spec }) => spec.result)).toMatchObject([
        { phase: 'completed', output: 'I was asked twice.', tool_calls: 0 },
        { phase: 'completed', output: 'It has ended.', tool_calls: 1 },
      ]);
      const [ofModel, ofTool] = await Promise.all([asked, waits].map(recordsOf));
      const count = (records: typeof ofModel, kind: string): number =>
        records?.filter((record) => record.kind === kind).length ?? 0;
      expect(['taken_over', 'model_replied', 'ended'].map((kind) => count(ofModel, kind))).toEqual([1, 1, 1]);
      expect(['taken_over', 'tool_ended', 'ended'].map((kind) => count(ofTool, kind))).toEqual([1, 1, 1]);
      expect(ofTool?.find(({ kind }) => kind === 'tool_ended')?.content).toContain('I was asked twice.');
    },
  );

  it('no outcome is lost and no tool runs twice while the replicas of the API go away, one after another', async () => {
    const names = await Promise.all(Array.from({ length: 4 }, (_, index) => start(`killed-${index}`)));
    const replicas = await apiPods(kube);
    for (const replica of replicas) {
      await killApiPods(kube, [replica]);
      await freshApiPods(kube, [replica]);
    }
    const ended = await Promise.all(names.map(end));
    for (const { spec } of ended) expect(spec.result).toMatchObject({ phase: 'completed', tool_calls: 3 });
  });
});
