import { expect, it, vi } from 'vitest';
import { KubeError } from '../../../lib/kube/index.ts';
import { hurriedClock } from '../../../test/support/faster-clock.ts';
import { FleetServer, perNodeOf } from '../../../test/support/fleet-controller.ts';
import { useFleetControllers } from '../../../test/support/fleet-controllers.ts';
import { hostsNamed, type Invoke, startRelayPeer } from '../../../test/support/relay-peer.ts';

const nats = useFleetControllers();
const soon = (check: () => void) => vi.waitFor(check, { timeout: 30_000, interval: 20 });

it('EDGE-RES-29 EDGE-REST-37 a part of the record is there once, where the answer to the status that names it was lost', {
  timeout: 60_000,
}, async () => {
  const hosts = hostsNamed(4);
  const open: Invoke[] = [];
  const peer = await startRelayPeer(nats.connect(), hosts, async (invoke, node) => {
    if (node === 'n00003') return void open.push(invoke);
    return { outcome: 'ok', exit_code: 0, duration_ms: 5 };
  });
  const server = new FleetServer({ policy: { per_target_deadline_secs: 3_600 } });
  const write = server.kube.jsonPatchStatus;
  let lost = 0;
  server.kube.jsonPatchStatus = async (...written) => {
    const run = await write(...written);
    if (lost > 0 || run.status?.per_node_ref === undefined) return run;
    lost += 1;
    throw new KubeError(504, { reason: 'Timeout' }, { verb: 'patch', resource: 'fleetruns/status' });
  };
  nats.start(server, hosts, { clock: hurriedClock });
  await soon(() => expect(lost).toBe(1));
  // One more outcome follows, so that the run writes its record again.
  await soon(() => expect(open).toHaveLength(1));
  const [invoke] = open;
  if (invoke !== undefined) await peer.say(invoke, { outcome: 'ok', exit_code: 0, duration_ms: 5 });
  await soon(() => expect(server.status.phase).toBe('Ended'));
  expect(server.status.summary).toMatchObject({ ok: 4 });
  expect((await perNodeOf(server)).map(({ node_id: node }) => node).toSorted()).toEqual([
    'n00000',
    'n00001',
    'n00002',
    'n00003',
  ]);
  expect(server.status.per_node_ref?.map(({ nodes }) => nodes)).toEqual([3, 1]);
});
