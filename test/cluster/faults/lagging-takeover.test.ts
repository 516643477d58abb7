import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Pod, pods } from '../../../lib/kube/index.ts';
import { aScript, aWorkflow } from '../../builders/workflow-builder.ts';
import type { ApiProxy } from '../harness/api-proxy.ts';
import type { Controllers } from '../harness/controllers.ts';
import { apiPathOf, describe, type Exchange, verbOf } from '../harness/exchange.ts';
import { ensureWorkflow, startExecution, waitUntilFinished } from '../harness/executions.ts';
import { workflowExecutions } from '../harness/kinds.ts';
import { openPodLedger, type PodLedger } from '../harness/pod-ledger.ts';
import { openStage, type Stage } from '../harness/stage.ts';
import { pause, waitForNone, waitForObject } from '../harness/wait.ts';

/**
 * The cache of a standby is behind by more than a failover takes: it has seen the intent to start the first step, and
 * nothing of its pod, its end, or the state after it.
 */
const steps = aWorkflow('two-steps')
  .state('first', aScript('echo one', { next: 'second' }))
  .state('second', aScript('sleep 35; echo two', { timeout: '5m' }))
  .build();

let stage: Stage;
let ledger: PodLedger;
let leading: { readonly proxy: ApiProxy; readonly controllers: Controllers };
let standby: ApiProxy;
/** Resumes the standby's watches. */
const catchUp = Promise.withResolvers<void>();

beforeAll(async () => {
  stage = await openStage('lagging');
  ledger = await openPodLedger(stage.kube, stage.namespace);
  await ensureWorkflow(stage.kube, { ...steps, metadata: { ...steps.metadata, namespace: stage.namespace } });
  leading = await startReplica('leading');
  standby = (await startReplica('standby')).proxy;
});

afterAll(async () => {
  catchUp.resolve();
  await ledger?.stop();
  await stage?.strike();
});

async function startReplica(name: string) {
  const proxy = await stage.proxy(name);
  const controllers = await stage.controllers(proxy, {
    WINDLASS_LEADER_ELECT: 'true',
    WINDLASS_LEASE_NAMESPACE: stage.lease.namespace,
    WINDLASS_LEASE_NAME: stage.lease.name,
    WINDLASS_POD_NAME: name,
  });
  return { proxy, controllers };
}

/** The standby's watch of executions stops after the intent, and that of pods shows none of the first step. */
function holdWatches(): void {
  const behindMs = 600_000;
  let seesIntent = false;
  standby.setRules({
    event: ({ path }, { object }) => {
      if (object.metadata.namespace !== stage.namespace) return 'send';
      const { resource } = apiPathOf(path) ?? {};
      if (resource === 'pods') return { delayMs: behindMs };
      if (resource !== 'workflowexecutions') return 'send';
      if (seesIntent) return { delayMs: behindMs };
      const { status } = object as { readonly status?: { readonly current?: { readonly state: string } } };
      seesIntent = status?.current?.state === 'first';
      return 'send';
    },
  });
}

const isOfPods = ({ path, status }: Exchange): boolean => apiPathOf(path)?.resource === 'pods' && status !== undefined;
/** A pod that runs already, and that the cache does not show, is looked up before it would be made. */
const isLookUp = (exchange: Exchange): boolean => isOfPods(exchange) && verbOf(exchange) === 'get';
const isCreate = (exchange: Exchange): boolean => isOfPods(exchange) && verbOf(exchange) === 'create';

it('D8 a replica that takes over with an old cache starts nothing that has been done', {
  timeout: 300_000,
}, async () => {
  holdWatches();
  const ref = { namespace: stage.namespace, name: 'run' };
  await startExecution(stage.kube, ref, { workflow: 'two-steps' });
  await waitForObject(
    stage.kube,
    { resource: workflowExecutions, ...ref },
    ({ status }) => status?.current?.state === 'second',
    { timeoutMs: 90_000, what: 'the second step' },
  );
  // Nothing but the status tells any more that the first step was run.
  const [first] = (await stage.kube.listAll(pods, { namespace: ref.namespace })).items.filter(isFirst);
  const name = first?.metadata.name ?? '';
  await waitForObject(stage.kube, { resource: pods, namespace: ref.namespace, name }, isReleased);
  await stage.kube.delete(pods, { namespace: ref.namespace, name });
  await waitForNone(stage.kube, { resource: pods, namespace: ref.namespace, fieldSelector: `metadata.name=${name}` });

  standby.forget();
  await leading.controllers.kill();
  await expect.poll(() => standby.exchanges.some(isLookUp), { timeout: 60_000, interval: 100 }).toBe(true);
  await pause(2_000);
  expect(standby.exchanges.filter(isCreate).map(describe)).toEqual([]);
  standby.setRules({});
  standby.breakConnections();
  const { status } = await waitUntilFinished(stage.kube, ref, { timeoutMs: 120_000 });
  expect(status?.phase).toBe('completed');
  expect(ledger.duplicates()).toEqual([]);
});

const isFirst = ({ metadata }: Pod): boolean => metadata.labels?.['windlass.dev/state'] === 'first';
const isReleased = ({ metadata }: Pod): boolean => (metadata.finalizers ?? []).length === 0;
