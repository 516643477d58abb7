import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Agent } from '../../../crds/schema/agent.ts';
import type { AgentExecution, AgentExecutionSpec } from '../../../crds/schema/agent-execution.ts';
import { agentExecutions, agents } from '../../../lib/kinds.ts';
import { type KubeClient, pods } from '../../../lib/kube/index.ts';
import { apiPods, freshApiPods, killApiPods } from '../harness/api-pods.ts';
import { connect } from '../harness/cluster.ts';
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
    for (const agent of [example, strict]) {
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
