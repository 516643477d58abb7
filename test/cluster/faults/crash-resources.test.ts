import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import {
  configMaps,
  type KubeObject,
  persistentVolumeClaims,
  pods,
  type Resource,
  resourceQuotas,
} from '../../../lib/kube/index.ts';
import { aScript, aWorkflow } from '../../builders/workflow-builder.ts';
import type { ApiProxy } from '../harness/api-proxy.ts';
import type { Controllers } from '../harness/controllers.ts';
import { apiPathOf, type Exchange, verbOf } from '../harness/exchange.ts';
import { ensureWorkflow, isFinished, startExecution } from '../harness/executions.ts';
import { volumes, workflowExecutions } from '../harness/kinds.ts';
import { openPodLedger, type PodLedger } from '../harness/pod-ledger.ts';
import { openStage, type Stage } from '../harness/stage.ts';
import { pause, waitForNone, waitForView } from '../harness/wait.ts';
import { randomWithHash } from '../outputs/large-outputs.ts';
import { type S3Server, startS3Server } from '../outputs/s3-server.ts';

/** How long no further execution may have come to its moment before those that have are served by one death. */
const quietMs = 1_000;
/** Pods that the namespace may have at a time: fewer than there are executions. */
const podsAtOnce = 4;

/** The write at which the controllers die, for one execution. */
interface Moment {
  /** Verb, resource and subresource. */
  readonly write: string;
  /** `refused`: the API server answered 403, and the controllers never learn of it; of whichever execution meets it first. */
  readonly when: 'before' | 'after' | 'refused';
  readonly expires?: true;
}

const around = (write: string, more: Pick<Moment, 'expires'> = {}): readonly Moment[] => [
  { write, when: 'before', ...more },
  { write, when: 'after', ...more },
];

/** Each execution has a claim, stores its output in S3 and waits for a pod of the quota. */
const moments: readonly Moment[] = [
  ...around('create volumes'),
  ...around('create persistentvolumeclaims'),
  ...around('create pods'),
  { write: 'create pods', when: 'refused' },
  ...around('patch workflowexecutions'),
  ...around('patch workflowexecutions status'),
  ...around('patch pods'),
  ...around('delete workflowexecutions', { expires: true }),
];
const nameOf = (moment: Moment): string => `death-${moments.indexOf(moment)}`;

const workflow = aWorkflow('resources')
  .state(
    'write',
    aScript(`${randomWithHash(60_000)}; echo kept >/data/f`, {
      volumes: [{ name: 'workspace', mount_path: '/data' }],
      next: 'read',
    }),
  )
  .state('read', aScript('cat /data/f', { volumes: [{ name: 'workspace', mount_path: '/data' }] }))
  .with({
    storage: { workspace: { storage_class: 'ephemeral', size_limit_mb: 8 } },
    output_template: { read: '{{trim read.output.stdout}}' },
  })
  .build();

const writeOf = (exchange: Exchange): string => {
  const at = apiPathOf(exchange.path);
  return [verbOf(exchange), at?.resource, at?.subresource].filter(Boolean).join(' ');
};

/** The object that a write is about: its own name, or that in its body. */
function objectOf(exchange: Exchange): string {
  const { name } = apiPathOf(exchange.path) ?? {};
  if (name !== undefined) return name;
  const { metadata } = JSON.parse(exchange.body.toString('utf8') || '{}') as Partial<KubeObject>;
  return metadata?.name ?? '';
}

/** Objects of an execution begin with its name. */
const isOf = (name: string, object: string): boolean => object === name || object.startsWith(`${name}-`);

/** Holds each execution at its moment, once. */
function holdAt(proxy: ApiProxy) {
  const left = new Set(moments);
  const held: (() => void)[] = [];
  const hold = (exchange: Exchange, when: Moment['when']): Promise<'reset'> | undefined => {
    const moment = [...left].find(
      (one) =>
        one.when === when &&
        one.write === writeOf(exchange) &&
        (when === 'refused' || isOf(nameOf(one), objectOf(exchange))),
    );
    if (moment === undefined) return undefined;
    left.delete(moment);
    return new Promise((resolve) => void held.push(() => resolve('reset')));
  };
  proxy.setRules({
    before: (exchange) => hold(exchange, 'before') ?? 'forward',
    after: (exchange, status) =>
      (status === 403 ? hold(exchange, 'refused') : status < 300 ? hold(exchange, 'after') : undefined) ?? 'send',
  });
  return { left, held };
}

describe('controllers that die at any write about claims, S3, a quota or a lifetime', () => {
  let stage: Stage;
  let server: S3Server;
  let proxy: ApiProxy;
  let controllers: Controllers;
  let ledger: PodLedger;

  beforeAll(async () => {
    server = await startS3Server();
    stage = await openStage('crash-resources');
    proxy = await stage.proxy('api');
    controllers = await stage.controllers(proxy, server.env);
    ledger = await openPodLedger(stage.kube, stage.namespace);
    const { namespace } = stage;
    await ensureWorkflow(stage.kube, { ...workflow, metadata: { ...workflow.metadata, namespace } });
    const hard = { pods: String(podsAtOnce) };
    await stage.kube.create(resourceQuotas, { metadata: { name: 'pods', namespace }, spec: { hard } });
  });
  afterAll(async () => {
    await ledger?.stop();
    await stage?.strike();
    await server?.stop();
  });

  const start = (name: string, ttl?: number) =>
    startExecution(
      stage.kube,
      { namespace: stage.namespace, name },
      { workflow: workflow.metadata.name, ...(ttl !== undefined && { ttl_seconds_after_finished: ttl }) },
    );

  /** All executions that stay have ended, and those that expire are gone. */
  const ended = (): Promise<ReadonlyMap<string, WorkflowExecution>> =>
    waitForView(
      stage.kube,
      { resource: workflowExecutions, namespace: stage.namespace },
      (view) => {
        const list = [...view.values()];
        const isOver = list.every((one) => isFinished(one) && one.spec.ttl_seconds_after_finished === undefined);
        return isOver ? new Map(list.map((one) => [one.metadata.name ?? '', one])) : undefined;
      },
      { timeoutMs: 100_000, what: 'the ends of all executions' },
    );

  const facts = ({ status }: WorkflowExecution) => ({
    phase: status?.phase,
    transitions: status?.transitions,
    visits: status?.visits,
    final_output: status?.final_output,
  });

  const isRecord = (key: string): boolean => key.startsWith('tests/_archive/');
  const recorded = async (): Promise<readonly string[]> =>
    (await server.keys())
      .filter((key) => isRecord(key) && key.includes('/name/'))
      .map((key) => key.split('/').at(-1) ?? '')
      .toSorted();

  async function requireNothingLeft(): Promise<void> {
    // One that is deleted in the moment of its end takes its record along (AMB-174).
    const all = ['calm', ...moments.map(nameOf)].toSorted();
    await expect.poll(recorded, { timeout: 60_000 }).toEqual(all);
    await stage.kube.deleteCollection(workflowExecutions, { namespace: stage.namespace });
    const kinds: Resource[] = [workflowExecutions, pods, volumes, persistentVolumeClaims];
    for (const resource of kinds) await waitForNone(stage.kube, { resource, namespace: stage.namespace });
    const { items } = await stage.kube.listAll(configMaps, { namespace: stage.namespace });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['kube-root-ca.crt']);
    const keys = await server.keys();
    expect(keys.filter((key) => !isRecord(key))).toEqual([]);
    // Records outlive their executions (ADR 0046): one of each.
    expect(await recorded()).toEqual(all);
  }

  it('every execution ends as an undisturbed one, no step runs twice and nothing is left', {
    timeout: 240_000,
    retry: 0,
  }, async () => {
    await start('calm');
    const calm = facts((await ended()).get('calm') as WorkflowExecution);
    expect(calm).toMatchObject({ phase: 'completed', final_output: { read: 'kept' } });

    const rig = holdAt(proxy);
    await Promise.all(moments.map((one) => start(nameOf(one), one.expires && 0)));
    let isOver = false;
    const over = ended().finally(() => (isOver = true));
    over.catch(() => undefined);
    while (!isOver) {
      const before = rig.held.length;
      await pause(quietMs);
      if (rig.held.length === 0 || rig.held.length > before) continue;
      await controllers.kill();
      for (const release of rig.held.splice(0)) release();
      controllers = await stage.controllers(proxy, server.env);
    }
    const ends = await over;
    for (const moment of moments.filter(({ expires }) => expires === undefined)) {
      expect([nameOf(moment), facts(ends.get(nameOf(moment)) as WorkflowExecution)]).toEqual([nameOf(moment), calm]);
    }
    expect([...rig.left]).toEqual([]);
    expect(ledger.duplicates()).toEqual([]);

    proxy.setRules({});
    await requireNothingLeft();
  });
});
