import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { State } from '../../crds/schema/state.ts';
import type { WorkflowExecution, WorkflowExecutionSpec } from '../../crds/schema/workflow-execution.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { defineResource, type KubeObject, persistentVolumeClaims, pods } from '../../lib/kube/index.ts';
import { aQuestion, anEnd, anUpdate, aScript, aWorkflow, busybox } from '../builders/workflow-builder.ts';
import {
  ensureWorkflow,
  sendSignal,
  startExecution,
  waitUntilFinished,
  waitUntilWaiting,
} from './harness/executions.ts';
import { volumes, workflowExecutions, workflows } from './harness/kinds.ts';
import { useControllers, type UsedControllers } from './harness/used-controllers.ts';
import { waitForNone, waitForObject } from './harness/wait.ts';

/** The largest argument that Linux passes a process, in bytes. */
const largestArgument = 131_071;

/** Black box: what the requirements say, asked of the cluster alone, with unusual names and values. */
describe('what an execution does, seen from outside', () => {
  let used: UsedControllers;

  beforeAll(async () => {
    used = await useControllers('behaviour');
  });

  afterAll(() => used?.release());

  const register = (workflow: Workflow): Promise<Workflow> =>
    used.kube.create(workflows, {
      ...workflow,
      metadata: { ...workflow.metadata, namespace: used.namespace },
    });

  const start = async (workflow: Workflow, spec: Partial<WorkflowExecutionSpec> = {}): Promise<string> => {
    const { name } = workflow.metadata;
    await ensureWorkflow(used.kube, { ...workflow, metadata: { ...workflow.metadata, namespace: used.namespace } });
    await startExecution(used.kube, { namespace: used.namespace, name }, { workflow: name, ...spec });
    return name;
  };

  const run = async (workflow: Workflow, spec: Partial<WorkflowExecutionSpec> = {}): Promise<WorkflowExecution> => {
    const name = await start(workflow, spec);
    return waitUntilFinished(used.kube, { namespace: used.namespace, name }, { timeoutMs: 90_000 });
  };

  const ownedBy = (name: string) => ({ namespace: used.namespace, labelSelector: `windlass.dev/execution=${name}` });

  it.concurrent.each([
    { what: 'version', change: { version: 'v2' } },
    { what: 'group', change: { group: 'example.org' } },
    { what: 'kind', change: { kind: 'Workflows' } },
  ])('GEN-05 WF-MAN-02 WF-MAN-03 a manifest of another $what is refused', async ({ what, change }) => {
    const usual = { group: 'windlass.dev', version: 'v1', plural: 'workflows', kind: 'Workflow', namespaced: true };
    const other = defineResource<Workflow>({ ...usual, ...change });
    const manifest = aWorkflow(`another-${what}`).state('a', anEnd()).build();
    const metadata = { ...manifest.metadata, namespace: used.namespace };
    const created = used.kube.create(other, { ...manifest, metadata });
    await expect(created).rejects.toThrow(/not find|not found|must be Workflow/);
  });

  it.concurrent.each(['1.0', 'v1.0.0', '01.0.0', '1.0.0-01', ''])(
    'GEN-05 WF-MAN-05 the version %j is no semantic version and is refused',
    async (version) => {
      const manifest = aWorkflow('unversioned').with({ version }).state('a', anEnd()).build();
      await expect(register(manifest)).rejects.toThrow(/version/);
    },
  );

  it.concurrent('GEN-05 a semantic version with every part is accepted', async () => {
    const name = 'versioned';
    await register(aWorkflow(name).with({ version: '1.2.3-rc.1+build.5' }).state('a', anEnd()).build());
    const ready = ({ status }: Workflow): boolean => status?.conditions?.[0]?.status === 'True';
    const workflow = await waitForObject(used.kube, { resource: workflows, namespace: used.namespace, name }, ready);
    expect(workflow.status?.versions).toMatchObject([{ version: '1.2.3-rc.1+build.5' }]);
  });

  it.concurrent('WF-RUN-04 the final Blackboard stays after the end, of a failed run too', async () => {
    const states = aWorkflow('audited')
      .with({ context: { seeded: 1, kept: { deep: [true] } } })
      .state('note', anUpdate({ noted: 'yes' }, 'fail'))
      .state('fail', aScript('echo said; exit 3', { transitions: [{ condition: 'on_success', target: 'note' }] }));
    const { status } = await run(states.build(), { blackboard: { seeded: 2 } });
    expect(status).toMatchObject({ phase: 'failed', reason: 'ExitCode' });
    expect(status?.blackboard).toMatchObject({
      seeded: { value: 2 },
      kept: { value: { deep: [true] } },
      noted: { value: 'yes' },
      fail: { value: { status: 'failed', output: { stdout: 'said\n', exit_code: 3 } } },
    });
  });

  it.concurrent('WF-STOR-12 a persistent volume outlives its execution until a user deletes it', async () => {
    const mount = [{ name: 'keep', mount_path: '/keep' }];
    const workflow = aWorkflow('persistent')
      .with({ storage: { shared_volumes: [{ name: 'keep', storage_class: 'persistent' }] } })
      .state('a', aScript('echo kept > /keep/file', { volumes: mount }))
      .build();
    const { status } = await run(workflow);
    expect(status?.history).toMatchObject([{ status: 'success' }]);
    const { volume: name = '', claim = '' } = status?.volumes?.['keep'] ?? {};
    const { kube, namespace } = used;
    await kube.delete(workflowExecutions, { namespace, name: 'persistent' });
    await waitForNone(kube, { resource: workflowExecutions, namespace, fieldSelector: 'metadata.name=persistent' });
    await waitForNone(kube, { resource: pods, ...ownedBy('persistent') });
    expect((await kube.get(volumes, { namespace, name })).status?.phase).toBe('ready');
    await kube.delete(volumes, { namespace, name });
    await waitForNone<KubeObject>(kube, {
      resource: persistentVolumeClaims,
      namespace,
      fieldSelector: `metadata.name=${claim}`,
    });
  });

  it.concurrent('AMB-061 WF-PCR-02 states and steps may be called as anything that objects inherit', async () => {
    const steps = ['toString', 'valueOf'].map((name) => ({ name, image: busybox, command: ['echo', name] }));
    const workflow = aWorkflow('inherited')
      .with({ output_template: { said: '{{trim hasOwnProperty.output.toString.stdout}}' } })
      .state('isPrototypeOf', anUpdate({ toString: 't' }, 'hasOwnProperty'))
      .state('hasOwnProperty', { kind: 'ParallelContainerRun', steps, transitions: [] } as State)
      .build();
    const { status } = await run(workflow);
    expect(status).toMatchObject({ phase: 'completed', final_output: { said: 'toString' } });
    expect(status?.visits).toEqual({ isPrototypeOf: 1, hasOwnProperty: 1 });
    expect(status?.blackboard?.['toString']).toEqual({ value: 't' });
  });

  it.concurrent('WF-CR-05 WF-CR-06 WF-TPL-03 text from data is one argument, rendered once and never by a shell', async () => {
    const hostile = `{{input.t}} {{json blackboard}} "q' $HOME \`id\` $(id) \\ \n\t\u202e é 😀 </x>&`;
    const print = aScript('', { command: ['printf', '%s', '{{input.t}}'] });
    const workflow = aWorkflow('verbatim')
      .with({ output_template: { t: '{{print.output.stdout}}' }, output_schema: { type: 'object' } })
      .state('print', print)
      .build();
    const { status } = await run(workflow, { input: { t: hostile } });
    expect(status?.final_output).toEqual({ t: hostile });
  });

  it.concurrent('WF-CR-05 an argument of the largest size reaches the command; one byte more is named at once', async () => {
    const count = aScript('', { command: ['sh', '-c', 'printf %s "$1" | wc -c', 'x', '{{input.t}}'] });
    const fits = aWorkflow('argument-fits').state('count', count).build();
    const over = aWorkflow('argument-over').state('count', count).build();
    const [good, bad] = await Promise.all([
      run(fits, { input: { t: 'a'.repeat(largestArgument) } }),
      run(over, { input: { t: 'a'.repeat(largestArgument + 1) } }),
    ]);
    expect(good.status?.blackboard?.['count']).toMatchObject({ value: { stdout: `${largestArgument}\n` } });
    expect(bad.status?.history).toMatchObject([{ status: 'failed', reason: 'ContainerStartFailed' }]);
    expect(bad.status?.history?.[0]?.message).toContain('argument 4 of the command has 131072 bytes');
  });

  it.concurrent('WF-STATE-04 AMB-071 the longest timeout that is legal can be waited for', async () => {
    const ask: State = { ...aQuestion('go?', { yes: 'end', no: 'end' }), timeout: '999999999h' };
    const name = await start(aWorkflow('patient').state('ask', ask).state('end', anEnd()).build());
    const ref = { namespace: used.namespace, name };
    const { status } = await waitUntilWaiting(used.kube, { ...ref, state: 'ask' });
    expect(status?.current?.deadline).toBe('9999-12-31T23:59:59.999Z');
    await sendSignal(used.kube, ref, { state: 'ask', response: ' APPROVED ' });
    expect((await waitUntilFinished(used.kube, ref)).status?.phase).toBe('completed');
  });

  it.concurrent('WF-HUMAN-05 WF-RUN-11 of twenty decisions on one gate with one id exactly one is taken', async () => {
    const name = await start(
      aWorkflow('contested')
        .state('ask', aQuestion('?', { yes: 'end', no: 'end' }))
        .state('end', anEnd())
        .build(),
    );
    const { kube, namespace } = used;
    await waitUntilWaiting(kube, { namespace, name, state: 'ask' });
    const decide = (feedback: string) =>
      sendSignal(kube, { namespace, name }, { id: 'ask-1', state: 'ask', response: 'yes', feedback });
    const answers = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => decide(`f${n}`)));
    const { spec, status } = await waitUntilFinished(kube, { namespace, name });
    expect(spec.signals).toHaveLength(1);
    expect(status?.human_feedback).toEqual({ value: spec.signals?.[0]?.feedback });
    expect(answers.filter(({ status: outcome }) => outcome === 'rejected').length).toBeGreaterThan(0);
  });

  it.concurrent('WF-SUB-10 AMB-085 two workflows that call each other end at depth 10', async () => {
    const calls = (workflow_id: string): State => ({ kind: 'Subworkflow', workflow_id, transitions: [] }) as State;
    await register(aWorkflow('pong').state('call', calls('ping')).build());
    await run(aWorkflow('ping').state('call', calls('pong')).build());
    const { items } = await used.kube.listAll(workflowExecutions, { namespace: used.namespace });
    const related = items.filter(({ spec }) => ['ping', 'pong'].includes(spec.workflow));
    expect(related.map(({ spec }) => spec.parent?.depth ?? 0).toSorted((a, b) => a - b)).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ]);
    const deepest = related.find(({ spec }) => spec.parent?.depth === 10);
    expect(deepest?.status?.history).toMatchObject([{ reason: 'SubworkflowDepthExceeded' }]);
  });

  it.concurrent.each<{ how: string; name: string; input: Record<string, number>; ttl: number }>([
    { how: 'completes', name: 'brief-good', input: { n: 1 }, ttl: 0 },
    { how: 'completes', name: 'brief-late', input: { n: 1 }, ttl: 2 },
    { how: 'is refused its input', name: 'brief-bad', input: {}, ttl: 0 },
    { how: 'is refused its input', name: 'brief-bad-late', input: {}, ttl: 2 },
  ])('AMB-166 what $how without any pod is deleted $ttl s after its end', async ({ name, input, ttl }) => {
    const strict = { type: 'object' as const, required: ['n'] };
    const workflow = aWorkflow(name).with({ input_schema: strict }).state('a', anEnd()).build();
    await start(workflow, { input, ttl_seconds_after_finished: ttl });
    const selection = { namespace: used.namespace, fieldSelector: `metadata.name=${name}` };
    const gone = waitForNone(used.kube, { resource: workflowExecutions, ...selection }, { timeoutMs: 15_000 });
    await expect(gone).resolves.toBe(true);
  });

  it.concurrent('WF-STOR-01 an execution that is deleted while it runs leaves nothing behind', async () => {
    const workflow = aWorkflow('deleted')
      .with({ storage: { workspace: {} } })
      .state('a', aScript('sleep 60', { volumes: [{ name: 'workspace', mount_path: '/workspace' }] }))
      .build();
    const name = await start(workflow);
    const { kube, namespace } = used;
    const entered = ({ status }: WorkflowExecution): boolean => status?.current?.state === 'a';
    const target = { resource: workflowExecutions, namespace, name };
    const { status } = await waitForObject(kube, target, entered);
    await kube.delete(workflowExecutions, { namespace, name });
    const claim = status?.volumes?.['workspace']?.claim;
    expect(claim).toBeDefined();
    const fieldSelector = `metadata.name=${claim ?? ''}`;
    await Promise.all([
      waitForNone(kube, { resource: pods, ...ownedBy(name) }),
      waitForNone<KubeObject>(kube, { resource: persistentVolumeClaims, namespace, fieldSelector }),
      waitForNone(kube, { resource: workflowExecutions, namespace, fieldSelector: `metadata.name=${name}` }),
    ]);
  });
});
