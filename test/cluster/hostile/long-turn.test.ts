import { afterAll, beforeAll, expect, it } from 'vitest';
import { type KubeClient, type Lease, leases } from '../../../lib/kube/index.ts';
import { type Holder, startHolder } from '../../hostile/support/holder.ts';
import { connect, kubeconfigPath } from '../harness/cluster.ts';
import { makeTestNamespace, type TestNamespace } from '../harness/test-namespace.ts';
import { pause } from '../harness/wait.ts';

/**
 * The attacker may create an object in their own namespace that takes long to decide on: 12 s of the main loop cost the
 * leader nothing. A loop that is stuck for good does cost it the Lease, and never lets it write again.
 */
let kube: KubeClient;
let namespace: TestNamespace;
const holders: Holder[] = [];

beforeAll(async () => {
  ({ kube } = await connect());
  namespace = await makeTestNamespace(kube, 'long-turn');
});

afterAll(async () => {
  await Promise.all(holders.map((holder) => holder.end()));
  await namespace?.remove();
  await kube?.close();
});

async function start(identity: string): Promise<Holder> {
  const place = ['--kubeconfig', kubeconfigPath(), '--namespace', namespace.name];
  const holder = await startHolder(...place, '--identity', identity);
  holders.push(holder);
  return holder;
}

const readLease = (): Promise<Lease> => kube.get(leases, { namespace: namespace.name, name: 'controllers' });
const renewedAt = async (): Promise<number> => Date.parse((await readLease()).spec?.renewTime ?? '');
const hasSaid = ({ said }: Holder, member: string): boolean => said.some((happening) => member in happening);

it('a turn of 12 s costs the leader nothing, and one without end costs it the Lease', {
  timeout: 180_000,
}, async () => {
  const leader = await start('first');
  await leader.until('leading');
  const standby = await start('second');

  await leader.hold(12_000);
  const begun = await renewedAt();
  await pause(11_000);
  expect(hasSaid(leader, 'held')).toBe(false);
  // Five renewals are due in that time; two are enough for a machine with other work.
  expect((await renewedAt()) - begun).toBeGreaterThan(3_000);
  expect(await leader.until('held')).toMatchObject({ leads: true });
  expect((await readLease()).spec).toMatchObject({ holderIdentity: 'first', leaseTransitions: 0 });
  expect(hasSaid(standby, 'leading')).toBe(false);

  await leader.hold(50_000);
  await standby.until('leading');
  expect(hasSaid(leader, 'ended')).toBe(false);
  expect((await readLease()).spec).toMatchObject({ holderIdentity: 'second' });
  expect(await leader.until('held', 2)).toMatchObject({ leads: false });
  expect(await leader.until('ended')).toEqual({ ended: 'lost' });
});
