import { describe, expect, it, vi } from 'vitest';
import type { FleetRunSpec } from '../../../crds/schema/fleet-run.ts';
import { systemClock } from '../../../lib/clock.ts';
import { AppError } from '../../../lib/errors.ts';
import { FleetServer } from '../../../test/support/fleet-controller.ts';
import { useFleetControllers } from '../../../test/support/fleet-controllers.ts';
import { hostsNamed, startRelayPeer } from '../../../test/support/relay-peer.ts';
import { createHeapBudget } from '../heap-budget.ts';
import { createArgumentPool } from './run-arguments.ts';

const nats = useFleetControllers();
const soon = (check: () => void) => vi.waitFor(check, { timeout: 30_000, interval: 20 });
const ok = async () => ({ outcome: 'ok', exit_code: 0, duration_ms: 5 }) as const;
const count = 12;

type Policy = NonNullable<FleetRunSpec['policy']>;

/** A run with large arguments, of which a few at once find room, over hosts that take none before they are let. */
async function slowRun(policy: Policy, more: Parameters<typeof nats.start>[2] = {}) {
  const hosts = hostsNamed(count);
  const peer = await startRelayPeer(nats.connect(), hosts, ok);
  const server = new FleetServer({ args: { x: 'y'.repeat(60_000) }, policy: { max_concurrency: count, ...policy } });
  const letThem = Promise.withResolvers<undefined>();
  const sent: string[] = [];
  const process = nats.start(server, hosts, {
    onTheWay: createArgumentPool(systemClock, 1_300_000),
    ...more,
    wrapSender: (sender) => ({
      ...sender,
      async send(command, sealed) {
        const { node_id: node } = command.target;
        sent.push(node);
        if (node === 'n00000') throw new AppError('limit_exceeded', 'it takes none', { reason: 'ArgumentsTooLarge' });
        await letThem.promise;
        return sender.send(command, sealed);
      },
    }),
  });
  return { peer, server, process, sent, letThem: () => letThem.resolve(undefined) };
}

/** Runs of tenants, whose parts and arguments share the memory of one process. */
describe('a tenant whose hosts take no large arguments', { timeout: 60_000 }, () => {
  it('EDGE-RES-21 holds up no other one: a new leader reads its parts, and its large arguments leave', async () => {
    const parts = 8_000_000;
    const heapBudget = createHeapBudget(systemClock, parts);
    const onTheWay = createArgumentPool(systemClock, 1_300_000);
    const slow = await slowRun({}, { heapBudget, onTheWay, tenantOf: () => 'hostile' });
    await soon(() => expect(slow.sent.length).toBeGreaterThan(1));
    // As many bytes as there are: it begins when no one holds any.
    expect(await heapBudget('acme', [{ bytes: parts }], async () => 'read')).toBe('read');
    const hosts = hostsNamed(3);
    const peer = await startRelayPeer(nats.connect(), hosts, ok);
    const server = new FleetServer({ args: { x: 'y'.repeat(60_000) } });
    nats.start(server, hosts, { heapBudget, onTheWay });
    await soon(() => expect(server.status).toMatchObject({ phase: 'Ended', summary: { ok: 3 } }));
    expect(peer.invokes.map(({ command }) => command.args)).toEqual(Array(3).fill(server.run.spec.args));
    expect(slow.peer.invokes).toEqual([]);
    slow.letThem();
  });
});

describe('commands of a run that wait for their arguments', { timeout: 60_000 }, () => {
  it.each<[string, Policy, Partial<FleetRunSpec>]>([
    ['is cancelled', {}, { cancel: { by: 'ada' } }],
    ['halts by StopAfter', { failure_policy: { StopAfter: 1 } }, {}],
    ['halts by FailFast', { failure_policy: 'FailFast' }, {}],
  ])('EDGE-RES-22 EDGE-REST-40 never leave where the run %s meanwhile', async (_, policy, spec) => {
    const { peer, server, process, sent, letThem } = await slowRun(policy);
    await soon(() => expect(server.status.summary?.err).toBe(1));
    server.change({ spec });
    process.wake();
    await soon(() => expect(server.status.cancellation !== undefined).toBe('cancel' in spec));
    const left = [...sent];
    expect(left.length).toBeGreaterThan(1);
    expect(left.length).toBeLessThan(count);
    letThem();
    await soon(() => expect(server.status.phase).toBe('Ended'));
    expect(sent).toEqual(left);
    expect(peer.invokes).toHaveLength(left.length - 1);
  });
});
