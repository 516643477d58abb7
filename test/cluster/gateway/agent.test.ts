import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Agent } from '../../../crds/schema/agent.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { isNativeCluster } from '../harness/cluster.ts';
import { agentExecutions, agents } from '../harness/kinds.ts';
import { projectDir } from '../harness/project.ts';
import { waitForObject } from '../harness/wait.ts';
import { type GatewayStage, openGatewayStage } from './stage.ts';

const example = parse(readFileSync(join(projectDir, 'examples/order-desk/agent.yaml'), 'utf8')) as Agent;
const input = 'Two packets of tea for ada, please.';

/** The API's agents and the gateway, both as installed, with the scripted model of dev/demo/install. */
describe.runIf(isNativeCluster())('an agent of the installation', () => {
  let stage: GatewayStage;

  beforeAll(async () => {
    stage = await openGatewayStage('gateway-agent');
    const admin = await stage.client(['svc:admin']);
    await stage.desk.register(admin);
    await admin.createSecurityContext({ body: { name: 'desk', tools: ['orders.*'] } });
    await admin.createSecurityContext({ body: { name: 'closed', deny_list: ['orders.*'] } });
    await stage.warmUp();
    for (const context of ['desk', 'closed']) {
      await stage.kube.create(agents, {
        ...example,
        metadata: { name: `clerk-${context}`, namespace: stage.tenant },
        spec: { ...example.spec, security: { context } },
      });
    }
  });
  afterAll(() => stage?.strike());

  async function run(agent: string): Promise<AgentExecution> {
    const { tenant: namespace, kube } = stage;
    const name = `${agent}-run`;
    const object = { apiVersion: 'windlass.dev/v1', kind: 'AgentExecution', metadata: { name, namespace } } as const;
    await kube.create(agentExecutions, { ...object, spec: { agent, input } });
    const isOver = ({ status }: AgentExecution): boolean => status?.finished_at !== undefined;
    return waitForObject(kube, { resource: agentExecutions, namespace, name }, isOver, { timeoutMs: 120_000 });
  }

  it('orders by a registered tool, and the audit of the gateway shows each of its steps', async () => {
    const before = await stage.desk.operations();
    const { metadata, spec, status } = await run('clerk-desk');
    expect(spec.result).toMatchObject({
      phase: 'completed',
      output: 'Two packets of tea for ada are ordered; the total is 810 cents.',
      tool_calls: 1,
    });
    expect(status?.pod).toBeUndefined();
    expect((await stage.desk.operations()).length - before.length).toBe(5);
    const events = await stage.events();
    const ofCall = events.filter(({ data }) => data['execution_id'] === `agent-${metadata.uid}`);
    expect(ofCall.map(({ type }) => type)).toEqual([
      'ToolInvocationStarted',
      'WorkflowInvocationStarted',
      'CredentialExchangeCompleted',
      ...Array.from({ length: 5 }).flatMap(() => ['WorkflowStepStarted', 'WorkflowStepExecuted']),
      'WorkflowInvocationCompleted',
      'ToolInvocationCompleted',
    ]);
    expect(new Set(ofCall.map(({ subject }) => subject))).toEqual(new Set(['clerk-desk']));
  });

  it('AGENT-15 is not offered what its security context denies, and nothing is sent', async () => {
    const before = await stage.desk.operations();
    const { spec } = await run('clerk-closed');
    expect(spec.result).toMatchObject({ phase: 'completed', output: 'The order was not placed.' });
    expect(await stage.desk.operations()).toEqual(before);
  });
});
