import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../crds/limits.ts';
import { anyExits, anyWorkflow, help, isOver } from '../../../test/builders/any-workflow.ts';
import { World } from '../../../test/builders/world.ts';

/** Plays the part of the cluster and of people until the execution is over: pods end, signals come, time passes. */
function play(world: World, codes: readonly number[], act?: (round: number) => boolean): World {
  for (let round = 0; round < 2_000 && !isOver(world); round += 1) {
    world.step(() => act?.(round) ?? true);
    if (isOver(world)) break;
    if (act === undefined || act(round)) help(world, codes[round % codes.length] ?? 0);
  }
  return world.settle();
}

describe('random workflows', () => {
  it('WF-RUN-09 WF-RUN-10 always end, and no limit is ever exceeded', () => {
    fc.assert(
      fc.property(anyWorkflow, anyExits, (flow, codes) => {
        const { status } = play(new World(flow), codes);
        expect(['completed', 'failed']).toContain(status.phase);
        expect(status.transitions).toBeLessThanOrEqual(flow.spec.max_total_transitions ?? limits.transitionsDefault);
        for (const [name, visits] of Object.entries(status.visits ?? {})) {
          expect(visits).toBeLessThanOrEqual(flow.spec.states[name]?.max_state_visits ?? limits.stateVisitsDefault);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('the same facts at the same time give the same decision, and what is settled stays settled', () => {
    fc.assert(
      fc.property(anyWorkflow, anyExits, (flow, codes) => {
        const world = new World(flow);
        for (let round = 0; round < 40 && !isOver(world); round += 1) {
          expect(world.decision()).toEqual(world.decision());
          world.settle();
          expect(world.decision().status).toEqual(world.status);
          help(world, codes[round % codes.length] ?? 0);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('an action that got lost after the status was written is decided again: the end is the same', () => {
    fc.assert(
      fc.property(anyWorkflow, anyExits, fc.infiniteStream(fc.boolean()), (flow, codes, coin) => {
        const lost = new Map<number, boolean>();
        const act = (round: number): boolean => {
          const known = lost.get(round) ?? coin.next().value === true;
          lost.set(round, known);
          return known;
        };
        const undisturbed = play(new World(flow), [0]);
        const disturbed = play(new World(flow), [0], act);
        expect(disturbed.status.phase).toBe(undisturbed.status.phase);
        expect(disturbed.status.reason).toBe(undisturbed.status.reason);
        expect(disturbed.visits()).toEqual(undisturbed.visits());
        expect([...disturbed.pods.keys()].toSorted()).toEqual([...undisturbed.pods.keys()].toSorted());
        expect(codes.length).toBeGreaterThan(0);
      }),
      { numRuns: 150 },
    );
  });

  it('when it is over nothing is left running or held', () => {
    fc.assert(
      fc.property(anyWorkflow, anyExits, fc.integer({ min: 0, max: 30 }), (flow, codes, cancelAt) => {
        const world = new World(flow);
        for (let round = 0; round < cancelAt && !isOver(world); round += 1) {
          world.step();
          help(world, codes[round % codes.length] ?? 0);
        }
        world.cancel().settle();
        expect(isOver(world)).toBe(true);
        expect(world.running()).toEqual([]);
        expect([...world.pods.values()].filter(({ held }) => held)).toEqual([]);
        expect(world.status.current).toBeUndefined();
      }),
      { numRuns: 150 },
    );
  });
});
