import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { defineResource, type KubeObject, pods } from '../../../lib/kube/index.ts';
import { bundleProgram, startProgram } from '../cli/program.ts';
import { type GatewayStage, openGatewayStage, type SigningSession } from '../gateway/stage.ts';
import { isNativeCluster } from '../harness/cluster.ts';
import { waitForNone, waitForObject } from '../harness/wait.ts';

interface StatefulSet extends KubeObject {
  readonly status?: { readonly readyReplicas?: number };
}

const statefulSets = defineResource<StatefulSet>({
  group: 'apps',
  version: 'v1',
  plural: 'statefulsets',
  kind: 'StatefulSet',
  namespaced: true,
});

const nats = { namespace: 'windlass-system', name: 'windlass-nats' };
const call = { tool: 'orders.place', args: { customer: 'ada', item: 'tea', quantity: 1 } };

describe.runIf(isNativeCluster())('the installed gateway while NATS is away', () => {
  let stage: GatewayStage;
  let session: SigningSession;
  let main: string;

  beforeAll(async () => {
    [stage, main] = await Promise.all([openGatewayStage('gateway-bus'), bundleProgram('gateway-bus-cli')]);
    await stage.desk.register(await stage.client(['svc:admin']));
    session = await stage.session();
    await stage.warmUp();
  });
  afterEach(() => scaleNats(1));
  afterAll(() => stage?.strike());

  async function scaleNats(replicas: 0 | 1): Promise<void> {
    await stage.kube.mergePatch(statefulSets, nats, { spec: { replicas } });
    const labelSelector = 'app.kubernetes.io/name=windlass,app.kubernetes.io/component=nats';
    if (replicas === 0) await waitForNone(stage.kube, { resource: pods, namespace: nats.namespace, labelSelector });
    else
      await waitForObject(stage.kube, { resource: statefulSets, ...nats }, ({ status }) => status?.readyReplicas === 1);
  }

  it('GW-INV-19 refuses calls rather than act unaudited, and afterwards nothing is missing', async () => {
    expect(await stage.call(session, call)).toMatchObject({ status: 200 });
    const before = await stage.desk.operations();
    const replicas = await stage.replicas();
    await scaleNats(0);
    const from = performance.now();
    const refused = await Promise.all(
      replicas.flatMap(({ url }) => Array.from({ length: 3 }, () => stage.call(session, call, url))),
    );
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
    // docs/gateway.md says two seconds; the machine of a test may be busy.
    expect(performance.now() - from).toBeLessThan(10_000);
    expect(await stage.desk.operations()).toEqual(before);

    await scaleNats(1);
    // The session is still there: it is kept in NATS, and survives its restart.
    await expect
      .poll(async () => (await stage.call(session, call, replicas[0].url)).status, { timeout: 60_000, interval: 500 })
      .toBe(200);
    const started = (await stage.events()).filter(({ type }) => type === 'WorkflowStepStarted');
    expect(started).toHaveLength((await stage.desk.operations()).length);
    const env = {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      WINDLASS_GATEWAY: (await stage.replicas())[0].url,
      WINDLASS_TOKEN: await stage.token(['svc:operator']),
    };
    const verified = await startProgram(main, ['gateway', 'audit', 'verify'], env).result;
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('none is missing or changed') });
  });
});
