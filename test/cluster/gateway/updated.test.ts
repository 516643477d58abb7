import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isNativeCluster, kubeconfigPath } from '../harness/cluster.ts';
import { pause } from '../harness/wait.ts';
import { programPath } from '../outputs/programs.ts';
import { type GatewayStage, openGatewayStage, type SigningSession } from './stage.ts';

const run = promisify(execFile);
const call = { tool: 'orders.place', args: { customer: 'ada', item: 'tea', quantity: 1 } };
const operations = ['POST /customers/find', 'GET /goods', 'POST /reservations', 'POST /orders', 'POST /confirmations'];
const fourth = operations.slice(0, 4);

/** A chain of five operations that take a second and a half each. */
describe.runIf(isNativeCluster())('a tool workflow that kubectl changes', () => {
  let stage: GatewayStage;
  let session: SigningSession;

  beforeAll(async () => {
    stage = await openGatewayStage('gateway-updated', 1_500);
    await stage.desk.register(await stage.client(['svc:admin']));
    session = await stage.session();
    await stage.warmUp();
  });
  afterAll(() => stage?.strike());

  it('GW-WF-30 ADR 0116 ends a call as it began it, and takes the next one as it is now, on both replicas', async () => {
    const replicas = await stage.replicas();
    const client = await stage.client();
    const [before] = (await client.listToolWorkflows()).items;
    const sent = (await stage.desk.operations()).length;
    const running = Promise.all(replicas.map(({ url }) => stage.call(session, call, url)));
    while ((await stage.desk.operations()).length < sent + 2) await pause(100);

    const place = ['--kubeconfig', kubeconfigPath(), '--namespace', stage.tenant];
    const found = await run(await programPath('kubectl'), [...place, 'get', 'toolworkflows', '-o', 'name']);
    const change = JSON.stringify([{ op: 'remove', path: '/spec/steps/4' }]);
    await run(await programPath('kubectl'), [...place, 'patch', found.stdout.trim(), '--type=json', '-p', change]);

    for (const { status, result } of await running)
      expect([status, result]).toMatchObject([
        200,
        { isError: false, structuredContent: { result: { number: expect.any(String) as string } } },
      ]);
    const arrived = (await stage.desk.operations()).slice(sent);
    expect(arrived.toSorted()).toEqual([...operations, ...operations].toSorted());

    for (const { url } of replicas) {
      const there = await stage.client(['svc:operator'], url);
      await expect
        .poll(async () => (await there.listToolWorkflows()).items, { timeout: 30_000, interval: 100 })
        .toMatchObject([{ id: before?.id, step_count: 4, ready: { status: 'True' } }]);
      const from = (await stage.desk.operations()).length;
      expect(await stage.call(session, call, url)).toMatchObject({ status: 200, result: { isError: false } });
      expect((await stage.desk.operations()).slice(from)).toEqual(fourth);
    }
    const registered = (await stage.events()).filter(({ type }) => type === 'WorkflowRegistered');
    expect(new Set(registered.map(({ data }) => data['workflow_id']))).toEqual(new Set([before?.id]));
    expect(registered).toHaveLength(2);
  });
});
