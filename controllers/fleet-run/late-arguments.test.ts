import { describe, expect, it, vi } from 'vitest';
import type { FleetRunSpec } from '../../crds/schema/fleet-run.ts';
import { systemClock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { FleetServer } from '../../test/support/fleet-controller.ts';
import { useFleetControllers } from '../../test/support/fleet-controllers.ts';
import { hostsNamed, startRelayPeer } from '../../test/support/relay-peer.ts';
import { createPartTurns } from './part-turns.ts';

const nats = useFleetControllers();
const soon = (check: () => void) => vi.waitFor(check, { timeout: 30_000, interval: 20 });
const ok = async () => ({ outcome: 'ok', exit_code: 0, duration_ms: 5 }) as const;
const count = 12;

type Policy = NonNullable<FleetRunSpec['policy']>;

/** A run with large arguments, of which a few at once find room, over hosts that take none before they are let. */
async function slowRun(policy: Policy) {
  const hosts = hostsNamed(count);
  const peer = await startRelayPeer(nats.connect(), hosts, ok);
  const server = new FleetServer({ args: { x: 'y'.repeat(60_000) }, policy: { max_concurrency: count, ...policy } });
  const let_ = Promise.withResolvers<undefined>();
  const sent: string[] = [];
  const process = nats.start(server, hosts, {
    inTurn: createPartTurns(systemClock, 8_000_000),
    wrapSender: (sender) => ({
      ...sender,
      async send(command, until) {
        const { node_id: node } = command.target;
        sent.push(node);
        if (node === 'n00000') throw new AppError('limit_exceeded', 'it takes none', { reason: 'ArgumentsTooLarge' });
        await let_.promise;
        return sender.send(command, until);
      },
    }),
  });
  return { peer, server, process, sent, letThem: () => let_.resolve(undefined) };
}

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
