import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { archiveFinalizer } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { findObject } from '../../lib/kube/index.ts';
import { anEnd, aQuestion, anUpdate, aWorkflow } from '../builders/workflow-builder.ts';
import { bundleProgram, startProgram } from './cli/program.ts';
import { type ApiProxy, startApiProxy } from './harness/api-proxy.ts';
import { kubeconfigPath } from './harness/cluster.ts';
import { type Controllers, startControllers } from './harness/controllers.ts';
import { controllersIdentity, restoreInstalled, scaleInstalledTo } from './harness/installed.ts';
import { workflowExecutions, workflows } from './harness/kinds.ts';
import { pause, waitForObject } from './harness/wait.ts';
import { type ApiWorld, startApiWorld } from './api/harness/index.ts';

const base = '/v1/workflows/executions';
const large = 'é'.repeat(20_000);

let world: ApiWorld;
let controllers: Controllers;
let proxy: ApiProxy;
let main: string;
let home: string;
let ada: string;
let eve: string;

beforeAll(async () => {
  main = await bundleProgram('archive');
  home = await mkdtemp(join(tmpdir(), 'windlass-archive-'));
  world = await startApiWorld({ purpose: 'archive' });
  const as = await controllersIdentity(world.kube);
  await scaleInstalledTo(world.kube, 0);
  const kubeconfig = join(home, 'kubeconfig');
  proxy = await startApiProxy({ upstream: kubeconfigPath(), kubeconfig, as });
  controllers = await startControllers({
    kubeconfig,
    name: 'archive',
    env: { WINDLASS_NATS_URL: world.nats?.url ?? '', WINDLASS_ARCHIVE_GRACE_SECONDS: '120' },
  });
  await controllers.ready();
  ada = await world.token({ user: 'ada', tenant: world.tenant });
  eve = await world.token({ user: 'eve', tenant: world.otherTenant });
  const definitions = [
    aWorkflow('kept')
      .with({ output_template: { all: '{{blackboard.copy}}' } })
      .state('gate', aQuestion('Go on?', { yes: 'save', no: 'end' }))
      .state('save', anUpdate({ copy: '{{input.big}}' }, 'end'))
      .state('end', anEnd()),
    aWorkflow('short').state('end', anEnd()),
  ];
  for (const builder of definitions) {
    const { metadata, ...definition } = builder.build();
    await world.kube.create(workflows, { ...definition, metadata: { ...metadata, namespace: world.tenant } });
  }
});
afterAll(async () => {
  await world?.nats?.start();
  await controllers?.stop();
  await proxy?.close();
  if (world !== undefined) await restoreInstalled(world.kube);
  await world?.close();
  await rm(home, { recursive: true, force: true });
});

async function start(body: object): Promise<string> {
  const answer = await world.http(base, { token: ada, body });
  return answer.json<{ execution_id: string }>().execution_id;
}

const read = (id: string, token = ada) => world.http(`${base}/${id}?full=true`, { token });

/** Waits until the object is there no more. */
async function gone(name: string): Promise<void> {
  const ref = { namespace: world.tenant, name };
  while ((await findObject(world.kube, workflowExecutions, ref)) !== undefined) await pause(200);
}

/**
 * The record as the replica answers it. The replica hears of the deletion, and finds NATS again, a moment after the
 * controllers do; that it knows of no such execution is wrong at any moment.
 */
async function archived(id: string): Promise<Record<string, unknown>> {
  for (;;) {
    const answer = await read(id);
    const isBehind = answer.status === 503 || (answer.status === 200 && answer.json()['archived'] === false);
    if (!isBehind) return answer.json();
    await pause(200);
  }
}

const nameOf = async (id: string): Promise<string> => (await read(id)).json<{ name: string }>().name;

function windlass(...args: readonly string[]) {
  const env = { PATH: process.env['PATH'], HOME: home, WINDLASS_SERVER: world.replicas[0]?.url, WINDLASS_TOKEN: ada };
  return startProgram(main, args, env).result;
}

describe('AMB-174 WF-RUN-04 the archive', () => {
  let id: string;
  let name: string;
  let before: Record<string, unknown>;

  it('has the whole record of an execution before its object is deleted', async () => {
    id = await start({ workflow: 'kept', input: { big: large }, ttl_seconds_after_finished: 8 });
    name = await nameOf(id);
    await waitForObject(
      world.kube,
      { resource: workflowExecutions, namespace: world.tenant, name },
      ({ status }: WorkflowExecution) => status?.phase === 'waiting',
    );
    await world.http(`${base}/${id}/signal`, { token: ada, body: { response: 'yes' } });
    const isWritten = ({ status }: WorkflowExecution): boolean => status?.archived_at !== undefined;
    await waitForObject(world.kube, { resource: workflowExecutions, namespace: world.tenant, name }, isWritten);
    before = (await read(id)).json();
    expect(before).toMatchObject({ status: 'completed', archived: false, final_output: { all: large } });
    await gone(name);
  });

  it('answers for it once it is gone, by id and by name, with the values in full and who decided', async () => {
    for (const asked of [id, name]) {
      const after = await archived(asked);
      expect(after).toEqual({ ...before, archived: true });
      expect(after['history']).toMatchObject([{ state: 'gate', decision: { by: 'ada', response: 'yes' } }, {}, {}]);
    }
  });

  it('lists it for its tenant, and tells another tenant nothing', async () => {
    const listed = (await world.http(`${base}?archived=true`, { token: ada })).json<{ executions: object[] }>();
    expect(listed.executions).toMatchObject([{ execution_id: id, name, archived: true, status: 'completed' }]);
    expect((await world.http(base, { token: ada })).json()).toEqual({ executions: [], next_cursor: null });
    expect((await read(id, eve)).status).toBe(404);
    expect((await read(name, eve)).status).toBe(404);
    expect((await world.http(`${base}?archived=true`, { token: eve })).json()).toEqual({
      executions: [],
      next_cursor: null,
    });
  });

  it('is read by the command line', async () => {
    const shown = await windlass('get', name);
    expect([shown.code, shown.stderr]).toEqual([0, '']);
    expect(shown.stdout).toContain('gate');
    expect((await windlass('list', '--archived', '-o', 'name')).stdout).toContain(name);
  });

  it('is waited for while NATS is away, by the time to live and by a deletion', async () => {
    await world.nats?.kill();
    const late = await nameOf(await start({ workflow: 'short', ttl_seconds_after_finished: 0 }));
    const deleted = await nameOf(await start({ workflow: 'short' }));
    const held = ({ metadata }: WorkflowExecution): boolean => metadata.finalizers?.includes(archiveFinalizer) ?? false;
    for (const one of [late, deleted]) {
      await waitForObject(world.kube, { resource: workflowExecutions, namespace: world.tenant, name: one }, held);
    }
    await world.kube.delete(workflowExecutions, { namespace: world.tenant, name: deleted });
    // Time in which controllers that do not wait would let them go.
    await pause(2_000);
    for (const name of [late, deleted]) {
      const found = await findObject(world.kube, workflowExecutions, { namespace: world.tenant, name });
      expect(found?.status).toMatchObject({ phase: 'completed' });
      expect(found?.status?.archived_at).toBeUndefined();
    }
    await world.nats?.start();
    for (const each of [late, deleted]) {
      await gone(each);
      expect(await archived(each)).toMatchObject({ name: each, status: 'completed', archived: true });
    }
  });
});
