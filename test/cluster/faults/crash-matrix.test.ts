import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { messageOf } from '../../../lib/errors.ts';
import { type Pod, pods } from '../../../lib/kube/index.ts';
import type { ApiProxy } from '../harness/api-proxy.ts';
import type { Controllers } from '../harness/controllers.ts';
import { workflowExecutions } from '../harness/kinds.ts';
import { openPodLedger, type PodLedger } from '../harness/pod-ledger.ts';
import { openStage, type Stage } from '../harness/stage.ts';
import { pause, waitForView } from '../harness/wait.ts';
import { createWriteNumbers, createWriteTracker } from '../harness/write-tracker.ts';
import { type CrashPlan, type CrashPoint, createCrashRig } from './crash-points.ts';
import { endState } from './end-state.ts';
import { createReferenceRuns, type ReferenceRuns } from './reference-runs.ts';
import { type Reference, references } from './reference-workflows.ts';

/** How long no further execution may have reached a crash point before the ones that have are served. */
const quietMs = 1_500;
/** Crash points of one execution: it loses its controller so often on its way. */
const deathsEach = 4;
/** More lives than any wave needs; a controller that cannot get ahead must not keep the test for ever. */
const livesAtMost = 60;

interface Undisturbed {
  readonly reference: Reference;
  readonly writes: readonly string[];
  readonly end: unknown;
  readonly slots: readonly string[];
}

interface Case {
  readonly name: string;
  readonly reference: Reference;
  readonly points: readonly CrashPoint[];
}

/** Shares the crash points of a workflow out so that those of one execution lie far apart. */
function shareOut({ reference, writes }: Undisturbed): Case[] {
  const points = writes.flatMap((write) => [
    { write, when: 'before' as const },
    { write, when: 'after' as const },
  ]);
  const executions = Math.ceil(points.length / deathsEach);
  return Array.from({ length: executions }, (_, i) => ({
    name: `kill-${reference.name}-${i}`,
    reference,
    points: points.filter((_point, j) => j % executions === i),
  }));
}

/** One execution for each crash point that a wave missed, as an earlier death may have led around it. */
function oneByOne(cases: readonly Case[], missed: CrashPlan): Case[] {
  return cases.flatMap(({ name, reference }) =>
    (missed.get(name) ?? []).map((point, i) => ({ name: `${name}-alone-${i}`, reference, points: [point] })),
  );
}

describe('GEN a controller that dies at any write changes nothing about the end', () => {
  let stage: Stage;
  let proxy: ApiProxy;
  let controllers: Controllers;
  let ledger: PodLedger;
  let runs: ReferenceRuns;
  let undisturbed: Undisturbed[];

  beforeAll(async () => {
    stage = await openStage('crash');
    proxy = await stage.proxy('api');
    controllers = await stage.controllers(proxy);
    ledger = await openPodLedger(stage.kube, stage.namespace);
    runs = createReferenceRuns(stage.kube, stage.namespace);
    await runs.register();
    undisturbed = await runUndisturbed();
  });

  afterAll(async () => {
    await ledger?.stop();
    await stage?.strike();
  });

  async function runUndisturbed(): Promise<Undisturbed[]> {
    proxy.forget();
    const nameOf = (reference: Reference): string => `calm-${reference.name}`;
    const ended = await Promise.all(references.map((reference) => runs.run(reference, nameOf(reference))));
    await podsReleased();
    const tracker = createWriteTracker();
    const numbers = createWriteNumbers();
    const writes = proxy.exchanges.flatMap((exchange) => {
      const write = tracker.attribute(exchange);
      if (write === undefined || (exchange.status ?? 500) >= 300) return [];
      const name = numbers.peek(write);
      numbers.count(write);
      return [{ execution: write.execution, name }];
    });
    return references.map((reference, i) => {
      const execution = nameOf(reference);
      return {
        reference,
        writes: writes.filter((write) => write.execution === execution).map(({ name }) => name),
        end: endState(ended[i] as WorkflowExecution),
        slots: slotsOf(execution),
      };
    });
  }

  /** The last writes of a run come after its end: pods are let go once their output is stored. */
  async function podsReleased(): Promise<void> {
    const followed = { resource: pods, namespace: stage.namespace };
    const free = (pod: Pod): boolean => (pod.metadata.finalizers ?? []).length === 0;
    await waitForView(stage.kube, followed, (view) => ([...view.values()].every(free) ? true : undefined));
    // Events are written behind the work.
    await pause(2_000);
  }

  /** Slots of a run and of the children it started, under names that are the same in each run. */
  function slotsOf(name: string): string[] {
    return [...ledger.slots().keys()]
      .filter((slot) => slot.startsWith(`${name}/`) || slot.startsWith(`${name}-`))
      .map((slot) => slot.slice(name.length).replace(/-[0-9a-f]{10}\//, '-#/'))
      .toSorted();
  }

  /** Runs a set of cases through as many lives of the controller as it takes; gives back what no run came to. */
  async function runWave(cases: readonly Case[]): Promise<CrashPlan> {
    const rig = createCrashRig(proxy, new Map(cases.map(({ name, points }) => [name, points])));
    const started = Date.now();
    let lives = 1;
    const ended = Promise.all(cases.map(({ reference, name }) => runs.run(reference, name, 400_000)));
    // Looked at below; a failure must not end the process while lives are still being taken.
    ended.catch(() => undefined);
    while (lives < livesAtMost && (await rig.timeToKill(quietMs))) {
      await controllers.kill();
      rig.letGo();
      controllers = await stage.controllers(proxy);
      lives += 1;
    }
    await ended;
    proxy.setRules({});
    const missed = rig.pending();
    const points = cases.reduce((sum, { points: own }) => sum + own.length, 0);
    const seconds = Math.round((Date.now() - started) / 1000);
    console.log(
      `${points} crash points, ${cases.length} executions, ${lives} lives, ${seconds} s, missed ${missed.size}`,
    );
    return missed;
  }

  it('the undisturbed runs complete and make no more pods than they need', () => {
    const seen = undisturbed.map(({ reference, end, slots }) => ({
      name: reference.name,
      phase: (end as { phase?: string }).phase,
      pods: slots.length,
    }));
    expect(seen).toEqual(references.map(({ name, pods: count }) => ({ name, phase: 'completed', pods: count })));
    expect(Math.min(...undisturbed.map(({ writes }) => writes.length))).toBeGreaterThan(1);
  });

  it('killed before and after each write of six reference workflows, each run ends as the undisturbed one', {
    timeout: 900_000,
  }, async () => {
    const cases = undisturbed.flatMap(shareOut);
    const alone = oneByOne(cases, await runWave(cases));
    const unreached: CrashPlan = alone.length === 0 ? new Map() : await runWave(alone);
    const wrong: string[] = [];
    for (const { name, reference, points } of [...cases, ...alone]) {
      const execution = await stage.kube.get(workflowExecutions, { namespace: stage.namespace, name });
      const calm = undisturbed.find((run) => run.reference === reference);
      try {
        expect({ end: endState(execution), slots: slotsOf(name) }).toEqual({ end: calm?.end, slots: calm?.slots });
      } catch (error) {
        wrong.push(`${name} (${JSON.stringify(points)}): ${messageOf(error)}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(ledger.duplicates()).toEqual([]);
    // Crash points that no run came to: the matrix would claim more than it did.
    expect(Object.fromEntries(unreached)).toEqual({});
  });
});
