import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SecurityContext } from '../../../crds/schema/security-context.ts';
import type { ToolCall } from '../../../crds/schema/tool-call.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { securityContexts, toolCalls } from '../../../lib/kinds.ts';
import { pods } from '../../../lib/kube/index.ts';
import { createSend, type Send } from '../admission/api.ts';
import { podsOf } from '../chart/release.ts';
import { releaseNamespace } from '../chart/rendering.ts';
import { kubeconfigPath } from '../harness/cluster.ts';
import {
  ensureWorkflow,
  sendSignal,
  startExecution,
  waitUntilFinished,
  waitUntilWaiting,
} from '../harness/executions.ts';
import { fleetRuns, workflowExecutions } from '../harness/kinds.ts';
import { projectDir } from '../harness/project.ts';
import { waitForObject } from '../harness/wait.ts';
import { type EdgeWorld, openEdgeWorld } from './harness/edge-world.ts';
import { connectedHost, marksOf, type RealHost } from './harness/real-host.ts';

/** Workflows that call tools on the installed Windlass, over daemons of this machine. */
let world: EdgeWorld;
let hosts: (RealHost & AsyncDisposable)[] = [];
let send: Send;
let group: string;

const example = async <T>(file: string): Promise<T> =>
  parse(await readFile(join(projectDir, 'examples/edge', file), 'utf8')) as T;

beforeAll(async () => {
  world = await openEdgeWorld('call-tool');
  for (const name of ['one', 'two', 'three']) hosts.push(await connectedHost(world, name));
  send = await createSend(kubeconfigPath());
  const context = await example<SecurityContext>('fleet-operator.yaml');
  await world.kube.create(securityContexts, { ...context, metadata: { ...context.metadata, namespace: world.tenant } });
  const answer = await world.http('/v1/edge/groups', { body: { name: 'all', selector: {} } });
  group = answer.json<{ readonly id: string }>().id;
});
afterAll(async () => {
  for (const each of hosts) await each[Symbol.asyncDispose]();
  hosts = [];
  await world?.close();
});

const register = (workflow: Workflow): Promise<void> =>
  ensureWorkflow(world.kube, { ...workflow, metadata: { ...workflow.metadata, namespace: world.tenant } });

/** A workflow of one state that calls a tool. */
async function workflowOf(name: string, env: Record<string, string>, timeout = '120s'): Promise<void> {
  const state = { kind: 'System' as const, command: 'call_tool', env, timeout, transitions: [] };
  await register({
    apiVersion: 'windlass.dev/v1',
    kind: 'Workflow',
    metadata: { name },
    spec: { version: '1.0.0', initial_state: 'call', states: { call: state } },
  });
}

const started = new Map<string, number>();
async function start(workflow: string, input: Record<string, string> = {}): Promise<string> {
  const count = (started.get(workflow) ?? 0) + 1;
  started.set(workflow, count);
  const name = `${workflow}-${count}`;
  await startExecution(world.kube, { namespace: world.tenant, name }, { workflow, input });
  return name;
}

const end = (name: string): Promise<WorkflowExecution> =>
  waitUntilFinished(world.kube, { namespace: world.tenant, name }, { timeoutMs: 120_000 });

async function callOf(execution: string): Promise<ToolCall | undefined> {
  const { items } = await world.kube.listAll(toolCalls, { namespace: world.tenant });
  return items.find(({ spec }) => spec.parent.name === execution);
}
const runningCall = async (execution: string): Promise<ToolCall> => {
  await expect
    .poll(async () => (await callOf(execution))?.status?.phase, { timeout: 60_000, interval: 250 })
    .toBe('running');
  const call = await callOf(execution);
  if (call === undefined) throw new Error('the call is gone');
  return call;
};

const onAll = (script: string): Record<string, string> => ({
  tool: 'svc.edge.fleet.invoke',
  security_context: 'fleet-operator',
  arguments: JSON.stringify({ target: { All: null }, tool: 'cmd.run', args: { command: 'sh', args: ['-c', script] } }),
});

describe('a rolling restart over hosts', () => {
  it('issue 14 restarts one host after the other behind a human gate, and a judge decides', async () => {
    const workflow = await example<Workflow>('rolling-restart.yaml');
    const { input_schema: _schema, ...spec } = workflow.spec;
    // The hosts of the test permit `sh -c` alone.
    const text = JSON.stringify({ ...workflow, spec }).replace('[\\"restart\\"', '[\\"-c\\"');
    await register(JSON.parse(text) as Workflow);
    const mark = `restart-${Date.now()}`;
    const name = await start('rolling-restart', { group, service: `echo >> $MARKS/${mark}`, command: 'sh' });
    const ref = { namespace: world.tenant, name };
    const { status } = await waitUntilWaiting(world.kube, { ...ref, state: 'ask' }, { timeoutMs: 60_000 });
    expect(status?.current?.prompt).toContain('on 3 hosts');
    await sendSignal(world.kube, ref, { state: 'ask', response: 'approved' });
    const ended = await end(name);
    expect(ended.status?.history?.map(({ state }) => state)).toEqual(['look', 'ask', 'restart', 'judge', 'done']);
    expect(ended.status?.final_output).toMatchObject({ verdict: 'restarted', restarted: 3 });
    for (const host of hosts) expect((await marksOf(host)).get(mark)).toBe(1);
  });
});

describe('a call that ends early', () => {
  it('cancelled in mid-call: the fleet run is cancelled, and the commands with it', async () => {
    await workflowOf('cancelled', onAll('sleep 100'));
    const name = await start('cancelled');
    await runningCall(name);
    const inFlight = async () =>
      (await world.kube.listAll(fleetRuns, { namespace: world.tenant })).items.find(
        ({ status }) => status?.phase === 'Running' && (status.in_flight ?? 0) > 0,
      );
    await expect.poll(inFlight, { timeout: 30_000, interval: 250 }).toBeDefined();
    const run = await inFlight();
    const me = await world.kube.whoAmI();
    const cancel = { by: me.username ?? '', at: new Date().toISOString() };
    await world.kube.mergePatch(workflowExecutions, { namespace: world.tenant, name }, { spec: { cancel } });
    expect((await end(name)).status?.phase).toBe('cancelled');
    const where = { resource: fleetRuns, namespace: world.tenant, name: run?.metadata.name ?? '' };
    const ended = await waitForObject(world.kube, where, ({ status }) => status?.phase === 'Ended', {
      timeoutMs: 60_000,
    });
    expect(ended.status).toMatchObject({ outcome: 'cancelled' });
    await expect
      .poll(async () => (await callOf(name))?.status?.phase, { timeout: 30_000, interval: 250 })
      .toBe('cancelled');
  });

  it('a replica of the API is killed in mid-call: the run continues once, and the next replica has its outcome', async () => {
    const mark = `killed-${Date.now()}`;
    // Its name is new: a failed attempt may have left one with another mark.
    await workflowOf(mark, onAll(`touch $MARKS/${mark}.$$; sleep 20`));
    const name = await start(mark);
    const { status: before } = await runningCall(name);
    await expect
      .poll(
        async () =>
          (await world.kube.listAll(fleetRuns, { namespace: world.tenant })).items.filter(
            ({ status }) => status?.phase === 'Running',
          ).length,
        { timeout: 30_000, interval: 250 },
      )
      .toBe(1);
    for (const { metadata } of await podsOf(world.kube, 'api')) {
      const ref = { namespace: releaseNamespace, name: metadata.name ?? '' };
      await world.kube.delete(pods, ref, { gracePeriodSeconds: 0 });
    }
    const { status } = await end(name);
    expect(status?.history?.[0]).toMatchObject({ status: 'success' });
    expect(status?.blackboard?.['call']?.value).toMatchObject({ status: 'success', exit_code: 0 });
    const { claim } = (await callOf(name))?.status ?? {};
    expect(claim?.by).not.toBe(before?.claim?.by);
    for (const host of hosts) {
      const mine = [...(await marksOf(host)).keys()].filter((each) => each.startsWith(mark));
      expect(mine).toHaveLength(1);
    }
  });
});

describe('a call that is refused', () => {
  it.each([
    ['unknown', { tool: 'orders.cancel' }, 'ToolRefused', 'UnknownTool'],
    ['denied', { tool: 'svc.workflow.list', security_context: 'fleet-operator' }, 'ToolRefused', 'ToolNotAllowed'],
    ['tier', { tool: 'svc.edge.fleet.list', arguments: '{"target":{"All":null}}' }, 'ToolRefused', 'tier'],
    ['context', { tool: 'svc.tools.list', security_context: 'nobodys' }, 'ToolRefused', 'there is no SecurityContext'],
  ])('%s', async (name, env, reason, message) => {
    await workflowOf(name, env);
    const { status } = await end(await start(name));
    expect(status?.history?.[0]).toMatchObject({ status: 'failed', reason });
    expect(status?.blackboard?.['call']?.value).toMatchObject({ status: 'failed', exit_code: -1 });
    expect(status?.history?.[0]?.message).toContain(message);
  });

  it('arguments of 1 MiB never reach the API server', async () => {
    await workflowOf('large', { tool: 'svc.tools.list', arguments: '{"a":"{{input.text}}"}' });
    const name = await start('large', { text: 'x'.repeat(1_000_000) });
    expect((await end(name)).status?.history?.[0]).toMatchObject({ reason: 'InvalidToolCall' });
    expect(await callOf(name)).toBeUndefined();
  });
});

describe('an editor of the namespace', () => {
  it('can neither make a call, change one, nor say how it ended', async () => {
    await workflowOf('forged', onAll('sleep 5'));
    const name = await start('forged');
    const call = await runningCall(name);
    const path = `/apis/windlass.dev/v1/namespaces/${world.tenant}/toolcalls`;
    const as = { as: 'edith', contentType: 'application/merge-patch+json' };
    const forged = { status: { phase: 'completed', result: { content: 'all is well' } } };
    const one = `${path}/${call.metadata.name}`;
    const answers = [
      await send('PATCH', `${one}/status`, forged, as),
      await send('PATCH', one, { spec: { cancel: { by: 'edith', at: new Date().toISOString() } } }, as),
      await send('POST', path, { ...call, metadata: { name: 'made' }, status: undefined }, { as: 'edith' }),
    ];
    // 403, the reason of the policies.
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
    for (const { message } of answers) expect(message).toContain('not by edith');
    const { status } = await end(name);
    expect(status?.history?.[0]).toMatchObject({ status: 'success' });
    const { stdout } = (status?.blackboard?.['call']?.value ?? {}) as { readonly stdout?: string };
    expect(stdout ?? '').not.toContain('all is well');
  });
});
