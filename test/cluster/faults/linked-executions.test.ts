import { afterAll, beforeAll, expect, it } from 'vitest';
import { annotations, labels } from '../../../crds/labels.ts';
import { limits } from '../../../crds/limits.ts';
import type { StimulusRouter } from '../../../crds/schema/stimulus-router.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { anEnd, aWorkflow } from '../../builders/workflow-builder.ts';
import type { ApiProxy } from '../harness/api-proxy.ts';
import type { Controllers } from '../harness/controllers.ts';
import { apiPathOf, type Exchange } from '../harness/exchange.ts';
import { ensureWorkflow, startExecution, waitUntilFinished } from '../harness/executions.ts';
import { stimulusRouters, workflowExecutions } from '../harness/kinds.ts';
import { openStage, type Stage } from '../harness/stage.ts';
import { pause, waitForNone, waitForObject } from '../harness/wait.ts';

/** Executions of `build` start `deploy` when they end, those of `loop` start themselves. */
const routes = { 'workflow:build': 'deploy', 'workflow:loop': 'loop' };
const definitions = [
  aWorkflow('build')
    .with({ output_template: { image: 'app:7' } })
    .state('end', anEnd())
    .build(),
  aWorkflow('loop').state('end', anEnd()).build(),
  aWorkflow('quiet').state('end', anEnd()).build(),
  aWorkflow('deploy')
    .with({ output_template: { image: '{{input.final_output.image}}', after: '{{input.status}}' } })
    .state('end', anEnd())
    .build(),
];

interface Replica {
  readonly proxy: ApiProxy;
  readonly controllers: Controllers;
}

let stage: Stage;
let leading: Replica;
let standby: Replica;

beforeAll(async () => {
  stage = await openStage('linked');
  const { kube, namespace } = stage;
  for (const definition of definitions) {
    await ensureWorkflow(kube, { ...definition, metadata: { ...definition.metadata, namespace } });
  }
  const router: StimulusRouter = {
    apiVersion: 'windlass.dev/v1',
    kind: 'StimulusRouter',
    metadata: { name: 'chains', namespace },
    spec: { routes },
  };
  await kube.create(stimulusRouters, router);
  leading = await startReplica('one');
  standby = await startReplica('two');
});

afterAll(async () => {
  await stage?.strike();
});

async function startReplica(name: string): Promise<Replica> {
  const proxy = await stage.proxy(name);
  const controllers = await stage.controllers(proxy, {
    WINDLASS_LEADER_ELECT: 'true',
    WINDLASS_LEASE_NAMESPACE: stage.lease.namespace,
    WINDLASS_LEASE_NAME: stage.lease.name,
    WINDLASS_POD_NAME: name,
  });
  return { proxy, controllers };
}

const refOf = (name: string) => ({ namespace: stage.namespace, name });
const start = (name: string, workflow: string) => startExecution(stage.kube, refOf(name), { workflow });

/** The execution that the end of another one started, once that says so. */
async function linkOf(name: string): Promise<{ origin: WorkflowExecution; link: WorkflowExecution }> {
  const origin = await waitForObject(
    stage.kube,
    { resource: workflowExecutions, ...refOf(name) },
    ({ status }) => status?.stimulus?.execution !== undefined,
    { timeoutMs: 60_000, what: 'the execution that its end started' },
  );
  const link = await waitUntilFinished(stage.kube, refOf(origin.status?.stimulus?.execution?.name ?? ''));
  return { origin, link };
}

async function linksOf(name: string): Promise<string[]> {
  const { items } = await stage.kube.listAll(workflowExecutions, { namespace: stage.namespace });
  return items
    .filter(({ metadata }) => metadata.annotations?.[annotations.linkedFrom] === name)
    .map(({ metadata }) => metadata.name);
}

const isCreate = ({ method, path }: Exchange): boolean =>
  method === 'POST' && apiPathOf(path)?.resource === 'workflowexecutions';

it('STIM-02 AMB-189 an execution that ends starts the workflow of the route, with its final output', async () => {
  await start('build-1', 'build');
  const { origin, link } = await linkOf('build-1');
  expect(link.metadata.uid).toBe(origin.status?.stimulus?.execution?.uid);
  expect(link.status?.final_output).toEqual({ image: 'app:7', after: 'completed' });
  expect(link.spec.input).toMatchObject({ execution_id: origin.metadata.uid, workflow: 'build' });
  expect(link.spec.version).toBe('1.0.0');
  expect(link.metadata.labels).toMatchObject({
    [labels.stimulus]: origin.status?.stimulus?.id,
    [labels.stimulusSource]: 'WorkflowEngineSignal',
  });
  expect(await linksOf('build-1')).toEqual([link.metadata.name]);
});

it('AMB-189 an execution whose workflow no route names starts nothing, and says nothing of it', async () => {
  await start('quiet-1', 'quiet');
  const { status } = await waitUntilFinished(stage.kube, refOf('quiet-1'));
  await pause(1_000);
  expect(status?.stimulus).toBeUndefined();
  expect(await linksOf('quiet-1')).toEqual([]);
});

it('AMB-189 a workflow that starts itself comes to rest, and its last execution says why', async () => {
  await start('loop-1', 'loop');
  const { kube, namespace } = stage;
  const ofLoop = async (): Promise<WorkflowExecution[]> =>
    (await kube.listAll(workflowExecutions, { namespace })).items.filter(({ spec }) => spec.workflow === 'loop');
  await expect
    .poll(async () => (await ofLoop()).some(({ status }) => status?.stimulus?.reason === 'TooManyLinks'), {
      timeout: 60_000,
      interval: 500,
    })
    .toBe(true);
  await pause(2_000);
  const all = await ofLoop();
  expect(all).toHaveLength(limits.stimulusLinksMax + 1);
  expect(new Set(all.map(({ metadata }) => metadata.annotations?.[annotations.linkRoot]))).toEqual(
    new Set([undefined, all.find(({ metadata }) => metadata.name === 'loop-1')?.metadata.uid]),
  );
});

it('AMB-189 a leader that dies before it hears of what it started leaves exactly one', {
  timeout: 300_000,
}, async () => {
  const held = Promise.withResolvers<'reset'>();
  let isHeld = false;
  leading.proxy.setRules({
    after(exchange) {
      if (!isCreate(exchange)) return 'send';
      isHeld = true;
      return held.promise;
    },
  });
  await start('build-2', 'build');
  await expect.poll(() => isHeld, { timeout: 60_000, interval: 50 }).toBe(true);
  await leading.controllers.kill();
  held.resolve('reset');
  leading.proxy.setRules({});
  const { link } = await linkOf('build-2');
  expect(await linksOf('build-2')).toEqual([link.metadata.name]);
  leading = standby;
});

it('AMB-189 a replica that takes over with an old cache starts nothing a second time', {
  timeout: 300_000,
}, async () => {
  standby = await startReplica('three');
  holdWatches(standby.proxy, 'build-3');
  await start('build-3', 'build');
  const { link } = await linkOf('build-3');
  // Nothing but the status of its origin tells any more that it was there.
  await stage.kube.delete(workflowExecutions, { ...refOf(link.metadata.name) });
  const gone = {
    resource: workflowExecutions,
    namespace: stage.namespace,
    fieldSelector: `metadata.name=${link.metadata.name}`,
  };
  await waitForNone(stage.kube, gone);
  standby.proxy.forget();
  await leading.controllers.kill();
  const asksForOrigin = ({ method, path }: Exchange): boolean => method === 'GET' && path.endsWith('/build-3');
  await expect.poll(() => standby.proxy.exchanges.some(asksForOrigin), { timeout: 60_000, interval: 100 }).toBe(true);
  await pause(2_000);
  expect(standby.proxy.exchanges.filter(isCreate)).toEqual([]);
  standby.proxy.setRules({});
  standby.proxy.breakConnections();
  await pause(2_000);
  expect(await linksOf('build-3')).toEqual([]);
});

/** The watch of executions stops after it has shown that the end of one is to start another. */
function holdWatches(proxy: ApiProxy, name: string): void {
  const behindMs = 600_000;
  let seesEnd = false;
  proxy.setRules({
    event: ({ path }, { object }) => {
      if (object.metadata.namespace !== stage.namespace) return 'send';
      if (apiPathOf(path)?.resource !== 'workflowexecutions') return 'send';
      if (seesEnd) return { delayMs: behindMs };
      const { metadata, status } = object as WorkflowExecution;
      seesEnd = metadata.name === name && status?.stimulus !== undefined;
      return 'send';
    },
  });
}
