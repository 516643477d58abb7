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
import { createWriteTracker } from '../harness/write-tracker.ts';
import { type CrashPoint, createCrashRig } from './crash-points.ts';
import { endState } from './end-state.ts';
import { createReferenceRuns, type ReferenceRuns } from './reference-runs.ts';
import { type Reference, references } from './reference-workflows.ts';

/** How long no further execution may have reached a crash point before the ones that have are served. */
const quietMs = 1_500;
/** Crash points of one execution: it loses its controller so often on its way. */
const deathsEach = 4;
/** More lives than any wave needs; a controller that cannot get ahead must not keep the test for ever. */
const livesAtMost = 60;
/**
 * Rounds for kinds of writes that no death has shown yet. Which writes a run makes depends on what the controller sees
 * at once, and a death that serves another execution may break a write that is under way. Each round has fewer deaths.
 */
const roundsForMissed = 4;

interface Undisturbed {
  readonly reference: Reference;
  /** Kinds of the writes that took effect, in order. */
  readonly writes: readonly string[];
  readonly end: unknown;
  readonly slots: readonly string[];
}

interface Case {
  readonly name: string;
  readonly reference: Reference;
  readonly points: readonly CrashPoint[];
}

const moments = ['before', 'after'] as const;

/** Before and after each write by its number, shared out so that the points of one execution lie far apart. */
function shareOut({ reference, writes }: Undisturbed, attempt: number): Case[] {
  const points = writes.flatMap((_kind, i) => moments.map((when) => ({ at: i + 1, when })));
  const executions = Math.ceil(points.length / deathsEach);
  return Array.from({ length: executions }, (_, i) => ({
    name: `kill${attempt}-${reference.name}-${i}`,
    reference,
    points: points.filter((_point, j) => j % executions === i),
  }));
}

/** The claim under test: a death before and after each kind of write of each reference. */
function allKinds(undisturbed: readonly Undisturbed[]): string[] {
  return undisturbed.flatMap(({ reference, writes }) =>
    [...new Set(writes)].flatMap((kind) => moments.map((when) => keyOf({ reference: reference.name, kind, when }))),
  );
}

/** Kubernetes Events are written once and never again: a death before the status patch may leave none to write. */
const isOwed = (key: string): boolean => !key.includes('events');

/** A run of its own for each kind that is wanted. */
function casesOfKinds(undisturbed: readonly Undisturbed[], isWanted: (key: string) => boolean, prefix: string): Case[] {
  return undisturbed.flatMap(({ reference, writes }) =>
    [...new Set(writes)].flatMap((kind, k) =>
      moments.flatMap((when): Case[] =>
        isWanted(keyOf({ reference: reference.name, kind, when }))
          ? [{ name: `${prefix}-${reference.name}-${k}-${when}`, reference, points: [{ at: kind, when }] }]
          : [],
      ),
    ),
  );
}

const keyOf = (key: { readonly reference: string; readonly kind: string; readonly when: string }): string =>
  `${key.reference}: ${key.when} ${key.kind}`;

describe('a controller that dies at any write changes nothing about the end', () => {
  let stage: Stage;
  let proxy: ApiProxy;
  let controllers: Controllers;
  let ledger: PodLedger;
  let runs: ReferenceRuns;
  let undisturbed: Undisturbed[];
  let attempt = 0;

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
    const writes = proxy.exchanges.flatMap((exchange) => {
      const write = tracker.attribute(exchange);
      return write === undefined || (exchange.status ?? 500) >= 300 ? [] : [write];
    });
    return references.map((reference, i) => {
      const execution = nameOf(reference);
      return {
        reference,
        writes: writes.filter((write) => write.execution === execution).map(({ kind }) => kind),
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

  /** Runs a set of cases through as many lives of the controller as it takes; gives back the kinds of its deaths. */
  async function runWave(cases: readonly Case[]): Promise<string[]> {
    const rig = createCrashRig(proxy, new Map(cases.map(({ name, points }) => [name, points])));
    const started = Date.now();
    let lives = 1;
    const ended = Promise.all(cases.map(({ reference, name }) => runs.run(reference, name, 400_000)));
    // Looked at below; a failure must not end the process while lives are still being taken.
    ended.catch(() => undefined);
    try {
      while (lives < livesAtMost && (await rig.timeToKill(quietMs, ended))) {
        await controllers.kill();
        rig.letGo();
        controllers = await stage.controllers(proxy);
        lives += 1;
      }
      await ended;
    } finally {
      proxy.setRules({});
      rig.letGo();
    }
    const seconds = Math.round((Date.now() - started) / 1000);
    console.log(`${rig.deaths.length} crash points, ${cases.length} executions, ${lives} lives, ${seconds} s`);
    return rig.deaths.map(({ execution, kind, when }) => {
      const reference = cases.find(({ name }) => name === execution)?.reference.name ?? '';
      return keyOf({ reference, kind, when });
    });
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
    // Executions of an attempt that failed are still there.
    attempt += 1;
    if (controllers.exited()) controllers = await stage.controllers(proxy);
    const cases = undisturbed.flatMap((run) => shareOut(run, attempt));
    const shown = new Set(await runWave(cases));
    for (let round = 1; round <= roundsForMissed; round += 1) {
      const isMissed = (key: string): boolean => !shown.has(key) && (round === 1 || isOwed(key));
      const missed = casesOfKinds(undisturbed, isMissed, `again${attempt}-${round}`);
      if (missed.length === 0) break;
      cases.push(...missed);
      for (const key of await runWave(missed)) shown.add(key);
    }
    const wrong: string[] = [];
    for (const { name, reference, points } of cases) {
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
    expect(allKinds(undisturbed).filter((key) => !shown.has(key) && isOwed(key))).toEqual([]);
  });
});
