import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import { type KubeObject, namespaces, type Pod, pods } from '../../../lib/kube/index.ts';
import { aScript, aWorkflow, busybox } from '../../builders/workflow-builder.ts';
import { ensureWorkflow, startExecution } from '../harness/executions.ts';
import { workflowExecutions } from '../harness/kinds.ts';
import { type Observer, observe } from '../harness/observer.ts';
import { openStage, type Stage } from '../harness/stage.ts';
import { makeTestNamespace } from '../harness/test-namespace.ts';
import { waitForView } from '../harness/wait.ts';

/** As many as a state may have: with fewer, the time of one pod decides the ratio. */
const stepsOfState = 50;
const stubbornSteps = 5;
/** Times as long as bare pods that are deleted at the same moment on the same nodes: nodes and machine count for both. */
const ratioMost = 1.5;
/** Time of bare pods; steps may not take more for themselves. */
const graceSeconds = 15;

const endsAtOnce = "trap 'exit 0' TERM; sleep 300 & wait";
const ignoresTerm = "trap '' TERM; while :; do sleep 1; done";

describe('steps that have to stop are gone as soon as bare pods', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage('stopping');
    await stage.controllers(await stage.proxy('api'));
  });

  afterAll(() => stage?.strike());

  const start = async (namespace: string, name: string, workflow: Workflow): Promise<void> => {
    await ensureWorkflow(stage.kube, { ...workflow, metadata: { ...workflow.metadata, namespace } });
    await startExecution(stage.kube, { namespace, name }, { workflow: workflow.metadata.name });
  };

  const makeBare = (namespace: string, count: number, script: string) =>
    Promise.all(Array.from({ length: count }, (_, i) => stage.kube.create(pods, barePod(namespace, i, script))));

  const untilRunning = (namespace: string, count: number) =>
    waitForView(
      stage.kube,
      { resource: pods, namespace },
      (view) => ([...view.values()].filter(isRunning).length === count ? true : undefined),
      { timeoutMs: 240_000, what: `${count} running pods` },
    );

  it(`D9 ${stepsOfState} parallel steps after a cancel`, { timeout: 480_000 }, async () => {
    const { kube, namespace } = stage;
    const command = ['sh', '-c', endsAtOnce];
    const steps = Array.from({ length: stepsOfState }, (_, i) => ({ name: `s${i}`, image: busybox, command }));
    const workflow = aWorkflow('wide')
      .state('all', { kind: 'ParallelContainerRun', steps, timeout: '20m', transitions: [] })
      .build();
    await start(namespace, 'wide', workflow);
    const bare = await makeBare(namespace, stepsOfState, endsAtOnce);
    await untilRunning(namespace, 2 * stepsOfState);
    const seen = await observe(kube, { resource: pods, namespace });
    const begunAt = Date.now();
    const ends = goneAfter(seen, begunAt);
    const cancel = { by: 'admin', at: new Date(begunAt).toISOString() };
    await Promise.all([
      kube.mergePatch(workflowExecutions, { namespace, name: 'wide' }, { spec: { cancel } }),
      ...bare.map(({ metadata: { name = '' } }) => kube.delete(pods, { namespace, name })),
    ]);
    const times = [...(await ends)];
    await seen.stop();
    const [ours, theirs] = [false, true].map((isBare) =>
      times.filter(([key]) => key.includes('/bare-') === isBare).map(([, ms]) => ms),
    ) as [number[], number[]];
    console.log(`gone after ${last(ours)} ms, bare pods after ${last(theirs)} ms`);
    expect([ours.length, theirs.length]).toEqual([stepsOfState, stepsOfState]);
    expect(last(ours)).toBeLessThanOrEqual(ratioMost * last(theirs));
  });

  it('D9 in a namespace that is deleted while they ignore SIGTERM', { timeout: 300_000 }, async () => {
    const { kube } = stage;
    const made = await Promise.all(['stubborn', 'bare'].map((purpose) => makeTestNamespace(kube, purpose)));
    const [ours, theirs] = made.map(({ name }) => name) as [string, string];
    const workflow = aWorkflow('stubborn')
      .state('stay', aScript(ignoresTerm, { timeout: '20m' }))
      .build();
    for (let i = 0; i < stubbornSteps; i++) await start(ours, `run-${i}`, workflow);
    await makeBare(theirs, stubbornSteps, ignoresTerm);
    await Promise.all([ours, theirs].map((name) => untilRunning(name, stubbornSteps)));
    const watched = await Promise.all(
      [ours, theirs].map((name) => observe(kube, { resource: namespaces, fieldSelector: `metadata.name=${name}` })),
    );
    const begunAt = Date.now();
    const ends = watched.map((seen) => goneAfter(seen, begunAt));
    await Promise.all(made.map((namespace) => namespace.remove()));
    const [oursMs, theirsMs] = (await Promise.all(ends)).map((times) => last([...times.values()])) as [number, number];
    await Promise.all(watched.map((seen) => seen.stop()));
    console.log(`the namespace was gone after ${oursMs} ms, the one with bare pods after ${theirsMs} ms`);
    expect(oursMs).toBeLessThanOrEqual(ratioMost * theirsMs);
  });
});

const isRunning = ({ status }: Pod): boolean => status?.phase === 'Running';
const last = (times: readonly number[]): number => Math.max(...times);

/** When each object that is seen now was gone, in milliseconds since a time; resolves when none is left. */
async function goneAfter<T extends KubeObject>(seen: Observer<T>, since: number): Promise<ReadonlyMap<string, number>> {
  const left = new Set(seen.view.keys());
  const times = new Map<string, number>();
  await seen.until((view) => {
    for (const key of left) {
      if (view.has(key)) continue;
      left.delete(key);
      times.set(key, Date.now() - since);
    }
    return left.size === 0 ? true : undefined;
  });
  return times;
}

function barePod(namespace: string, number: number, script: string): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `bare-${number}`, namespace },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: graceSeconds,
      securityContext: { runAsNonRoot: true, runAsUser: 65_534, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'step',
          image: busybox,
          command: ['sh', '-c', script],
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
  };
}
