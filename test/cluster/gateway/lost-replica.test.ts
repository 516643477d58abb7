import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pods } from '../../../lib/kube/index.ts';
import { isNativeCluster } from '../harness/cluster.ts';
import { pause } from '../harness/wait.ts';
import { type GatewayStage, openGatewayStage, type SigningSession } from './stage.ts';

const namespace = 'windlass-system';
const call = { tool: 'orders.place', args: { customer: 'ada', item: 'tea', quantity: 1 } };
/** The operation of each step, in the order of the chain. */
const sentBy = new Map([
  ['customer', 'POST /customers/find'],
  ['good', 'GET /goods'],
  ['reservation', 'POST /reservations'],
  ['order', 'POST /orders'],
  ['confirmation', 'POST /confirmations'],
]);

/** A chain of five operations that take a second and a half each. */
describe.runIf(isNativeCluster())('a replica of the gateway that is lost while a chain is under way', () => {
  let stage: GatewayStage;
  let session: SigningSession;

  beforeAll(async () => {
    stage = await openGatewayStage('gateway-lost', 1_500);
    await stage.desk.register(await stage.client(['svc:admin']));
    session = await stage.session();
    await stage.warmUp();
  });
  afterAll(() => stage?.strike());

  /** Sends the call, and gives the replica that it went to once the second operation has arrived. */
  async function underWay() {
    const before = (await stage.desk.operations()).length;
    const replicas = await stage.replicas();
    expect(replicas.length).toBeGreaterThan(1);
    const [replica, other] = replicas;
    const answer = stage.call(session, call, replica.url).catch((error: unknown) => error);
    while ((await stage.desk.operations()).length < before + 2) await pause(100);
    const sent = async () => (await stage.desk.operations()).slice(before);
    return { replica, other, answer, sent };
  }

  it('answers in an orderly stop what it has taken', async () => {
    const { replica, answer } = await underWay();
    await stage.kube.delete(pods, { namespace, name: replica.name });
    expect(await answer).toMatchObject({ status: 200, result: { isError: false } });
    await expect.poll(async () => (await stage.replicas()).length, { timeout: 60_000, interval: 500 }).toBe(2);
  });

  it('leaves in the audit every request that it has sent, and the other replica continues', async () => {
    const { replica, other, answer, sent } = await underWay();
    await stage.kube.delete(pods, { namespace, name: replica.name }, { gracePeriodSeconds: 0 });
    expect(await answer).toBeInstanceOf(Error);
    expect(await stage.call(session, call, other?.url)).toMatchObject({ status: 200, result: { isError: false } });

    const events = await stage.events();
    const last = events.filter(({ type }) => type === 'WorkflowInvocationStarted').at(-2);
    const ofCall = events.filter(({ invocationid: id }) => id === last?.invocationid);
    const started = ofCall.filter(({ type }) => type === 'WorkflowStepStarted').map(({ data }) => String(data['step']));
    // Those of the call that was cut, without the five of the one after.
    const arrived = (await sent()).slice(0, -5);
    expect(arrived.length).toBeGreaterThanOrEqual(2);
    expect(arrived.length).toBeLessThan(5);
    expect(started.slice(0, arrived.length).map((step) => sentBy.get(step))).toEqual(arrived);
    // An intent may be stored whose request did not leave any more.
    expect(started.length - arrived.length).toBeLessThanOrEqual(1);
    expect(ofCall.map(({ type }) => type)).not.toContain('WorkflowInvocationCompleted');
    await expect.poll(async () => (await stage.replicas()).length, { timeout: 60_000, interval: 500 }).toBe(2);
  });
});
