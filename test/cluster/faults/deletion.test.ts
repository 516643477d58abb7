import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import { configMaps, type KubeObject, persistentVolumeClaims, pods, type Resource } from '../../../lib/kube/index.ts';
import { anEnd, aQuestion, aScript, aWorkflow } from '../../builders/workflow-builder.ts';
import { ensureWorkflow, startExecution, waitUntilFinished } from '../harness/executions.ts';
import { volumes, workflowExecutions } from '../harness/kinds.ts';
import { openStage, type Stage } from '../harness/stage.ts';
import { waitForObject, waitForView } from '../harness/wait.ts';

const workspace = { workspace: { storage_class: 'ephemeral', size_limit_mb: 8 } } as const;
const mount = [{ name: 'workspace', mount_path: '/workspace' }];

/** Output beyond the part in status, so that there are blobs to leave behind. */
const wordy = 'seq 20000';

const workflows: readonly Workflow[] = [
  aWorkflow('works')
    .state('print', aScript(wordy, { volumes: mount, next: 'sleep' }))
    .state('sleep', aScript('sleep 300', { volumes: mount, timeout: '10m' }))
    .with({ storage: workspace })
    .build(),
  aWorkflow('asks')
    .state('print', aScript(wordy, { next: 'ask' }))
    .state('ask', aQuestion('Well?', { yes: 'end', no: 'end' }))
    .state('end', anEnd())
    .with({ storage: workspace })
    .build(),
  aWorkflow('succeeds')
    .state('print', aScript(wordy, { volumes: mount }))
    .with({ storage: workspace })
    .build(),
  aWorkflow('fails')
    .state('print', { ...aScript(`${wordy}; exit 3`), transitions: [{ condition: 'on_success', target: 'end' }] })
    .state('end', anEnd())
    .build(),
  aWorkflow('calls').state('call', { kind: 'Subworkflow', workflow_id: 'works', transitions: [] }).build(),
];

interface Case {
  readonly workflow: string;
  /** The moment at which the execution is deleted. */
  readonly at: { readonly phase: string; readonly state?: string };
  readonly cancel?: boolean;
}

const cases: Readonly<Record<string, Case>> = {
  // It fails when it has waited five seconds for its workflow; one that is refused lets it fail at once.
  'pending, as its workflow is not there yet': { workflow: 'nowhere', at: { phase: 'pending' } },
  'running, with a pod, a volume and stored output': { workflow: 'works', at: { phase: 'running', state: 'sleep' } },
  'running its first step': { workflow: 'works', at: { phase: 'running', state: 'print' } },
  'waiting for a person': { workflow: 'asks', at: { phase: 'waiting' } },
  completed: { workflow: 'succeeds', at: { phase: 'completed' } },
  failed: { workflow: 'fails', at: { phase: 'failed' } },
  cancelled: { workflow: 'works', at: { phase: 'cancelled' }, cancel: true },
  'waiting for a child that runs': { workflow: 'calls', at: { phase: 'running', state: 'call' } },
};

describe('deleting an execution in any phase leaves nothing behind within 60 s', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage('deletion');
    await stage.controllers(await stage.proxy('api'));
    for (const workflow of workflows) {
      await ensureWorkflow(stage.kube, {
        ...workflow,
        metadata: { ...workflow.metadata, namespace: stage.namespace },
      });
    }
  });

  afterAll(() => stage?.strike());

  /** Objects of an execution and of whatever it started: names of children and of pods begin with its own. */
  const belongsTo =
    (name: string) =>
    ({ metadata }: KubeObject): boolean =>
      metadata.name === name ||
      metadata.name?.startsWith(`${name}-`) === true ||
      metadata.labels?.['windlass.dev/execution']?.startsWith(name) === true ||
      metadata.ownerReferences?.some((owner) => owner.name.startsWith(name)) === true;

  async function leftovers(name: string, timeoutMs: number): Promise<string[]> {
    const deadline = Date.now() + timeoutMs;
    const kinds: Resource[] = [workflowExecutions, pods, configMaps, persistentVolumeClaims, volumes];
    const left = await Promise.all(
      kinds.map((resource) =>
        waitForView(
          stage.kube,
          { resource, namespace: stage.namespace },
          (view) => ([...view.values()].some(belongsTo(name)) ? undefined : []),
          { timeoutMs: Math.max(1, deadline - Date.now()) },
        ).catch(async () => {
          const { items } = await stage.kube.listAll(resource, { namespace: stage.namespace });
          return items.filter(belongsTo(name)).map((item) => `${resource.kind} ${item.metadata.name}`);
        }),
      ),
    );
    return left.flat();
  }

  it.concurrent.each(Object.keys(cases))('%s', async (title) => {
    const { workflow, at, cancel } = cases[title] as Case;
    const name = `gone${Object.keys(cases).indexOf(title)}`;
    const ref = { namespace: stage.namespace, name };
    await startExecution(stage.kube, ref, { workflow });
    if (cancel) {
      await waitForObject(
        stage.kube,
        { resource: workflowExecutions, ...ref },
        ({ status }) => status?.state === 'sleep',
        {
          timeoutMs: 90_000,
        },
      );
      const by = { by: 'admin', at: new Date().toISOString().replace(/\.\d+Z$/, 'Z') };
      await stage.kube.mergePatch(workflowExecutions, ref, { spec: { cancel: by } });
      await waitUntilFinished(stage.kube, ref, { timeoutMs: 60_000 });
    }
    await waitForObject(
      stage.kube,
      { resource: workflowExecutions, ...ref },
      ({ status }) => status?.phase === at.phase && (at.state === undefined || status.current?.state === at.state),
      { timeoutMs: 90_000 },
    );
    await stage.kube.delete(workflowExecutions, ref);
    expect(await leftovers(name, 60_000)).toEqual([]);
  });
});
