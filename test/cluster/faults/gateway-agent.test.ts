import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Agent } from '../../../crds/schema/agent.ts';
import { type GatewayStage, openGatewayStage } from '../gateway/stage.ts';
import { apiPods, freshApiPods, killApiPods } from '../harness/api-pods.ts';
import { isNativeCluster } from '../harness/cluster.ts';
import { agentExecutions, agents } from '../harness/kinds.ts';
import { projectDir } from '../harness/project.ts';
import { pause, waitForObject } from '../harness/wait.ts';

const example = parse(readFileSync(join(projectDir, 'examples/order-desk/agent.yaml'), 'utf8')) as Agent;

/** A chain of five operations that take a second and a half each, called by an agent. */
describe.runIf(isNativeCluster())('an agent in whose call every replica of the API is killed', () => {
  let stage: GatewayStage;

  beforeAll(async () => {
    stage = await openGatewayStage('gateway-api-lost', 1_500);
    const admin = await stage.client(['svc:admin']);
    await stage.desk.register(admin);
    await admin.createSecurityContext({ body: { name: 'desk', tools: ['orders.*'] } });
    await stage.warmUp();
    await stage.kube.create(agents, { ...example, metadata: { name: 'clerk', namespace: stage.tenant } });
  });
  afterAll(() => stage?.strike());

  it('reads that the outcome is unknown, and the call is not made again', async () => {
    const { kube, tenant: namespace, desk } = stage;
    const before = (await desk.operations()).length;
    const object = {
      apiVersion: 'windlass.dev/v1',
      kind: 'AgentExecution',
      metadata: { name: 'run', namespace },
    } as const;
    await kube.create(agentExecutions, { ...object, spec: { agent: 'clerk', input: 'Tea for ada, please.' } });
    while ((await desk.operations()).length < before + 2) await pause(100);
    const killed = await apiPods(kube);
    await killApiPods(kube, killed);
    await freshApiPods(kube, killed);
    const { metadata, spec } = await waitForObject(
      kube,
      { resource: agentExecutions, namespace, name: 'run' },
      ({ status }) => status?.finished_at !== undefined,
      { timeoutMs: 120_000 },
    );
    // The scripted model's answer to a result that is no confirmation.
    expect(spec.result).toMatchObject({ phase: 'completed', output: 'The order was not placed.', tool_calls: 1 });
    const sent = (await desk.operations()).slice(before);
    expect(sent.filter((operation) => operation === 'POST /customers/find')).toHaveLength(1);
    expect(sent).not.toContain('POST /confirmations');
    const events = (await stage.events()).filter(({ data }) => data['execution_id'] === `agent-${metadata.uid}`);
    expect(events.filter(({ type }) => type === 'WorkflowStepStarted')).toHaveLength(sent.length);
    expect(events.filter(({ type }) => type === 'ToolInvocationStarted')).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'WorkflowInvocationCompleted')).toEqual([]);
  });
});
