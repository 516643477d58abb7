import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { createFairPool } from '../../../lib/fair-pool.ts';
import { countTurns } from '../../../test/support/count-turns.ts';
import { FleetServer, poolOf } from '../../../test/support/fleet-controller.ts';
import { fleetRunLimits } from '../limits.ts';
import { RunView } from '../view/run-view.ts';
import { drive } from './drive.ts';

/** As many as wait at one time: 512 are some ten turns. */
const hosts: number = fleetRunLimits.launchesPerRun;
const never = (): Promise<never> => new Promise(() => undefined);

/** A run whose commands are all wanted at once, and wait for a turn behind one call that does not end. */
function wideRun(count = hosts) {
  const nodes = Array.from({ length: count }, (_, at) => `n${at}`);
  let claims = 0;
  const claim = (): Promise<never> => {
    claims += 1;
    return never();
  };
  const { run } = new FleetServer({ policy: { max_concurrency: count } });
  const view = new RunView(
    {
      clock: systemClock,
      outputs: createFairPool({ size: 1_048_576, clock: systemClock }),
      news: {
        read: async function* () {},
        has: async () => true,
        listen: () => ({ [Symbol.asyncDispose]: async () => undefined }),
      },
      keepArgs: () => async (make, task) => task(await make({})),
      wake: () => undefined,
    },
    {
      run,
      tenant: 'acme',
      targets: { resolved: nodes.map((node) => ({ node_id: node, host_uid: node, name: node })), skipped: [] },
      records: [],
      isNew: true,
    },
  );
  const launches = poolOf(2);
  const deps = {
    clock: systemClock,
    sender: { claim, roomFor: never, recordOf: never, seal: never, send: never, cancel: never },
    news: { report: never },
    recent: { ended: () => undefined },
    launches,
    cancels: poolOf(2),
  };
  return { view, deps, launches, claims: () => claims };
}

it('EDGE-RES-21 the commands of a fleet run are handed over in turns of the event loop', async () => {
  const { view, deps, launches } = wideRun();
  const turns = await countTurns(() => drive(deps, view));
  expect(turns).toBeGreaterThanOrEqual(9);
  expect(view.progress.inFlight).toBe(hosts);
  expect(launches.waiting + launches.used).toBe(hosts);
  view.close();
});

it.each([
  ['one less than may wait', hosts - 1, hosts - 1],
  ['as many as may wait', hosts, hosts],
  ['one more', hosts + 1, hosts],
])('EDGE-RES-21 no more commands of a run wait at one time than are allowed: %s', async (_, count, want) => {
  const { view, deps } = wideRun(count);
  await drive(deps, view);
  expect(view.progress.inFlight).toBe(want);
  view.close();
});

it('EDGE-REST-39 EDGE-REST-40 a run that is stopped while its commands are handed over hands over no more', async () => {
  const { view, deps } = wideRun();
  const driven = drive(deps, view);
  view.takeUpCancel(undefined);
  await driven;
  expect(view.progress.inFlight).toBeLessThanOrEqual(fleetRunLimits.begunPerTurn);
  view.close();
});

it('a view that is closed while its commands are handed over hands over no more', async () => {
  const { view, deps } = wideRun();
  const driven = drive(deps, view);
  view.close();
  await driven;
  expect(view.progress.inFlight).toBeLessThanOrEqual(fleetRunLimits.begunPerTurn);
});

it('what waits of a view that is closed ends in turns of the event loop, and nothing of it begins meanwhile', async () => {
  const { view, deps, launches, claims } = wideRun();
  await drive(deps, view);
  await setImmediate();
  const [before, begun] = [launches.waiting, claims()];
  view.close();
  const left: number[] = [];
  while (launches.waiting > 0) {
    left.push(launches.waiting);
    await setImmediate();
  }
  expect(left[0]).toBeGreaterThanOrEqual(before - fleetRunLimits.begunPerTurn);
  expect(left.length).toBeGreaterThanOrEqual(9);
  expect(claims()).toBe(begun);
});
