import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { messageOf } from '../../../lib/errors.ts';
import { type Pod, pods } from '../../../lib/kube/index.ts';
import type { ApiProxy } from '../harness/api-proxy.ts';
import type { Controllers } from '../harness/controllers.ts';
import { ensureWorkflow, sendSignal, startExecution, waitUntilFinished } from '../harness/executions.ts';
import { workflowExecutions } from '../harness/kinds.ts';
import { observe } from '../harness/observer.ts';
import { openPodLedger, type PodLedger } from '../harness/pod-ledger.ts';
import { openStage, type Stage } from '../harness/stage.ts';
import { pause, waitForView } from '../harness/wait.ts';
import { createWriteTracker } from '../harness/write-tracker.ts';
import { type CrashPoint, createCrashRig } from './crash-points.ts';
import { endState } from './end-state.ts';
import { calledWorkflows, type Reference, references } from './reference-workflows.ts';

/** How long no further execution may have reached its crash point before the ones that have are served. */
const quietMs = 3_000;
/** Executions under way at once; they share the lives of the controller, each with a crash point of its own. */
const together = 36;

interface Undisturbed {
  readonly reference: Reference;
  readonly signatures: readonly string[];
  readonly end: unknown;
  readonly slots: readonly string[];
}

interface Case {
  readonly name: string;
  readonly reference: Reference;
  readonly point: CrashPoint;
}

describe('GEN a controller that dies at any write changes nothing about the end', () => {
  let stage: Stage;
  let proxy: ApiProxy;
  let controllers: Controllers;
  let ledger: PodLedger;
  let undisturbed: Undisturbed[];

  beforeAll(async () => {
    stage = await openStage('crash');
    proxy = await stage.proxy('api');
    controllers = await stage.controllers(proxy);
    ledger = await openPodLedger(stage.kube, stage.namespace);
    for (const workflow of [...calledWorkflows, ...references.map((reference) => reference.workflow)]) {
      await ensureWorkflow(stage.kube, {
        ...workflow,
        metadata: { ...workflow.metadata, namespace: stage.namespace },
      });
    }
    undisturbed = await runUndisturbed();
  });

  afterAll(async () => {
    await ledger?.stop();
    await stage?.strike();
  });

  const start = (reference: Reference, name: string): Promise<WorkflowExecution> =>
    startExecution(
      stage.kube,
      { namespace: stage.namespace, name },
      { ...reference.spec, workflow: reference.workflow.metadata.name },
    );

  /** The person who answers gates, for as long as there are executions to answer. Straight to the API server. */
  async function answerGates(stop: AbortSignal): Promise<void> {
    const observer = await observe(stage.kube, { resource: workflowExecutions, namespace: stage.namespace });
    const answered = new Set<string>();
    const stopped = new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }));
    void stopped.then(() => observer.stop());
    while (!stop.aborted) {
      const waiting = await Promise.race([
        stopped,
        observer.until(
          (view) =>
            [...view.values()].find(
              ({ metadata, status }) => status?.phase === 'waiting' && !answered.has(metadata.name),
            ),
          { timeoutMs: 600_000 },
        ),
      ]);
      if (waiting === undefined || waiting === null) return;
      answered.add(waiting.metadata.name);
      const state = waiting.status?.current?.state ?? '';
      const ref = { namespace: stage.namespace, name: waiting.metadata.name };
      await sendSignal(stage.kube, ref, { id: `${state}-1`, state, response: 'yes', feedback: 'more' });
    }
  }

  async function withGates<R>(work: () => Promise<R>): Promise<R> {
    const stop = new AbortController();
    const answering = answerGates(stop.signal);
    try {
      return await work();
    } finally {
      stop.abort();
      await answering;
    }
  }

  async function runUndisturbed(): Promise<Undisturbed[]> {
    proxy.forget();
    const nameOf = (reference: Reference): string => `calm-${reference.name}`;
    const ended = await withGates(async () => {
      await Promise.all(references.map((reference) => start(reference, nameOf(reference))));
      return Promise.all(
        references.map((reference) =>
          waitUntilFinished(stage.kube, { namespace: stage.namespace, name: nameOf(reference) }),
        ),
      );
    });
    await podsReleased();
    const tracker = createWriteTracker();
    const writes = proxy.exchanges.flatMap((exchange) => tracker.attribute(exchange) ?? []);
    return references.map((reference, i) => {
      const execution = nameOf(reference);
      return {
        reference,
        signatures: writes.filter((write) => write.execution === execution).map(({ signature }) => signature),
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

  /** Runs a set of cases, each with its own crash point, through as many lives of the controller as it takes. */
  async function runWave(cases: readonly Case[]): Promise<string[]> {
    const rig = createCrashRig(proxy, new Map(cases.map(({ name, point }) => [name, point])));
    await withGates(async () => {
      await Promise.all(cases.map(({ reference, name }) => start(reference, name)));
      for (let life = 0; rig.pending.size > 0 && life < 12; life++) {
        await rig.timeToKill(quietMs);
        await controllers.kill();
        rig.letGo();
        controllers = await stage.controllers(proxy);
      }
      await Promise.all(
        cases.map(({ name }) =>
          waitUntilFinished(stage.kube, { namespace: stage.namespace, name }, { timeoutMs: 120_000 }),
        ),
      );
    });
    const missed = [...rig.pending];
    proxy.setRules({});
    return missed;
  }

  it('the undisturbed runs complete and make no more pods than they need', () => {
    const seen = undisturbed.map(({ reference, end, slots }) => ({
      name: reference.name,
      phase: (end as { phase?: string }).phase,
      pods: slots.length,
    }));
    expect(seen).toEqual(references.map(({ name, pods: count }) => ({ name, phase: 'completed', pods: count })));
    expect(Math.min(...undisturbed.map(({ signatures }) => signatures.length))).toBeGreaterThan(1);
  });

  it('killed before and after each write of six reference workflows, each run ends as the undisturbed one', {
    timeout: 900_000,
  }, async () => {
    const cases: Case[] = undisturbed.flatMap(({ reference, signatures }) =>
      signatures.flatMap((signature, i) =>
        (['before', 'after'] as const).map((when) => ({
          name: `kill-${reference.name}-${i}-${when}`,
          reference,
          point: { signature, when },
        })),
      ),
    );
    const unreached: string[] = [];
    for (let from = 0; from < cases.length; from += together) {
      unreached.push(...(await runWave(cases.slice(from, from + together))));
    }
    const wrong: string[] = [];
    for (const { name, reference, point } of cases) {
      const execution = await stage.kube.get(workflowExecutions, { namespace: stage.namespace, name });
      const calm = undisturbed.find((run) => run.reference === reference);
      try {
        expect(endState(execution)).toEqual(calm?.end);
        expect(ledger.of(name).map((slot) => slot.slice(name.length))).toEqual(
          expect.arrayContaining([...(calm?.slots ?? [])]),
        );
        expect(ledger.of(name).length).toBe(calm?.slots.length);
      } catch (error) {
        wrong.push(`${name} (${point.when} '${point.signature}'): ${messageOf(error)}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(ledger.duplicates()).toEqual([]);
    expect(unreached, 'crash points that no run came to').toEqual([]);
    console.log(`${cases.length} crash points`);
  });
});
