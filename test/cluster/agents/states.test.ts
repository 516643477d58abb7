import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { Agent } from '../../../crds/schema/agent.ts';
import type { SecurityContext } from '../../../crds/schema/security-context.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { State, StateOf } from '../../../crds/schema/state.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import type { WorkflowExecution, WorkflowExecutionSpec } from '../../../crds/schema/workflow-execution.ts';
import { newId } from '../../../lib/ids.ts';
import { defineResource, type KubeClient } from '../../../lib/kube/index.ts';
import { anEnd, aWorkflow } from '../../builders/workflow-builder.ts';
import { connect } from '../harness/cluster.ts';
import { startExecution, waitUntilFinished } from '../harness/executions.ts';
import { workflowExecutions, workflows } from '../harness/kinds.ts';
import { projectDir } from '../harness/project.ts';
import { waitForNone, waitForObject, waitForView } from '../harness/wait.ts';

const run = promisify(execFile);
const row = { group: 'windlass.dev', version: 'v1', namespaced: true } as const;
const agents = defineResource<Agent>({ ...row, plural: 'agents', kind: 'Agent' });
const agentExecutions = defineResource<AgentExecution>({ ...row, plural: 'agentexecutions', kind: 'AgentExecution' });

const securityContexts = defineResource<SecurityContext>({
  ...row,
  plural: 'securitycontexts',
  kind: 'SecurityContext',
});

const namespace = 'tenant-demo';
const inTenant = <T extends Agent | SecurityContext>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, namespace },
});
const read = (file: string): string => readFileSync(join(projectDir, 'examples/agents', file), 'utf8');

const rules: State['transitions'] = [
  { condition: 'on_success', target: 'good' },
  { condition: 'on_failure', target: 'bad' },
];
const anAgent = (agent: string, fields: Partial<StateOf<'Agent'>> = {}): StateOf<'Agent'> => ({
  kind: 'Agent',
  agent,
  input: 'a change',
  transitions: rules,
  ...fields,
});
const aPanel = (names: readonly string[], least: number, input = 'Notes: some'): StateOf<'ParallelAgents'> => ({
  kind: 'ParallelAgents',
  agents: names.map((agent) => ({ agent, input })),
  consensus: { strategy: 'weighted_average', min_judges_required: least },
  transitions: [{ condition: 'consensus', target: 'good' }, { target: 'bad' }],
});

/** Needs the installation of dev/demo/install, with the scripted model as its only provider. */
describe('agents and judges as states, through the whole system', () => {
  let kube: KubeClient;

  beforeAll(async () => {
    ({ kube } = await connect());
    const all = parseAllDocuments(read('agents.yaml')).map((document) => document.toJS() as Agent | SecurityContext);
    const documents = all.filter((object) => object.kind === 'Agent');
    for (const context of all.filter((object) => object.kind === 'SecurityContext')) {
      await kube.apply(securityContexts, inTenant(context), { fieldManager: 'test', force: true });
    }
    // One that no rule of the script answers, and one whose definition is refused: nothing ever runs it.
    const [writer] = documents;
    if (writer === undefined) throw new Error('the example has no agent');
    const lost = withTask(writer, 'mute', 'No rule of the script answers this.');
    const broken = withTask(writer, 'broken', '{{#if intent}}');
    for (const agent of [...documents, lost, broken]) {
      await kube.apply(
        agents,
        { ...agent, metadata: { ...agent.metadata, namespace } },
        { fieldManager: 'test', force: true },
      );
    }
  });

  const withTask = (agent: Agent, name: string, instruction: string): Agent => ({
    ...agent,
    metadata: { name },
    spec: { ...agent.spec, task: { instruction } },
  });

  /** Under a name of its own, so that a test that is tried again finds nothing of its first attempt. */
  const start = async (workflow: Workflow, spec: Partial<WorkflowExecutionSpec> = {}): Promise<string> => {
    const name = `${workflow.metadata.name}-${newId()}`;
    const named = { ...workflow, metadata: { ...workflow.metadata, name, namespace } };
    await kube.apply(workflows, named, { fieldManager: 'test', force: true });
    await startExecution(kube, { namespace, name }, { workflow: name, ...spec });
    return name;
  };

  const end = (name: string): Promise<WorkflowExecution> =>
    waitUntilFinished(kube, { namespace, name }, { timeoutMs: 120_000 });

  const single = (name: string, state: State): Workflow =>
    aWorkflow(name).state('s', state).state('good', anEnd()).state('bad', anEnd()).build();

  const childrenOf = async (name: string): Promise<AgentExecution[]> => {
    const { metadata } = await kube.get(workflowExecutions, { namespace, name });
    const { items } = await kube.listAll(agentExecutions, { namespace });
    return items.filter(({ spec }) => spec.parent?.uid === metadata.uid);
  };

  /** The first child, once it is there and as `isMeant` says. */
  const childOf = (name: string, isMeant: (child: AgentExecution) => boolean = () => true): Promise<AgentExecution> =>
    waitForView(kube, { resource: agentExecutions, namespace }, (view) =>
      [...view.values()].find((child) => child.spec.parent?.name === name && isMeant(child)),
    );

  const entryOf = (execution: WorkflowExecution, state = 's') => execution.status?.blackboard?.[state]?.value;

  it('WF-AGENT-01 WF-PAR-02 WF-PAR-20 WF-TPL-16 WF-STATE-05 the example revises once, files its notes and publishes', async () => {
    const workflow = parse(read('panel.yaml')) as Workflow;
    const name = await start(workflow, { input: { change: 'a change' }, intent: 'for operators' });
    const execution = await end(name);
    expect(execution.status).toMatchObject({ phase: 'completed', reason: 'Completed' });
    const path = execution.status?.history?.map(({ state }) => state);
    expect(path).toEqual(['write', 'panel', 'write', 'panel', 'review', 'file', 'publish', 'done']);
    expect(execution.status?.final_output).toMatchObject({
      title: 'A shorter default timeout',
      notes: expect.stringMatching(/^Second draft/),
      published: 'published 136 bytes',
    });
    const children = await childrenOf(name);
    expect(children).toHaveLength(10);
    expect(new Set(children.map(({ metadata }) => metadata.ownerReferences?.[0]?.name))).toEqual(new Set([name]));
    expect(entryOf(execution, 'review')).toMatchObject({ status: 'success', score: 0.95, iterations: 1 });
  });

  it('WF-PAR-24 judges run beside each other', async () => {
    const judges = ['judge-accuracy', 'judge-clarity', 'judge-risk'];
    // The scripted model answers none of them before it has been asked by all three.
    const execution = await end(await start(single('beside', aPanel(judges, 3, 'Answer beside two other judges'))));
    expect(execution.status?.history?.map(({ state }) => state)).toEqual(['s', 'good']);
    const result = { score: 0.9, reasoning: 'Three judges were asked at a time.' };
    expect(entryOf(execution)).toMatchObject({ individual_results: judges.map(() => result) });
  });

  // These wait for most of their time, each for an execution of its own.
  it.concurrent('WF-AGENT-05 WF-COND-11 an agent that does not exist fails its state, and on_failure leads on', async () => {
    const execution = await end(await start(single('nobody', anAgent('no-such-agent'))));
    expect(execution.status?.history?.map(({ state }) => state)).toEqual(['s', 'bad']);
    expect(execution.status?.history?.[0]).toMatchObject({ status: 'failed', reason: 'AgentFailed' });
    expect(execution.status?.history?.[0]?.message).toContain('AgentNotFound');
    expect(entryOf(execution)).toMatchObject({ status: 'failed', score: null });
  });

  it.concurrent('WF-COND-11 an agent whose model refuses fails its state with the words of the model', async () => {
    const execution = await end(await start(single('mute', anAgent('mute'))));
    expect(execution.status?.history?.[0]).toMatchObject({ status: 'failed', reason: 'AgentFailed' });
    expect(execution.status?.history?.[1]?.state).toBe('bad');
  });

  it.concurrent.each([
    { least: 1, path: ['s', 'good'], reason: undefined },
    { least: 2, path: ['s', 'bad'], reason: 'TooFewJudges' },
  ])(
    'WF-PAR-12 AMB-083 of two judges one is missing, min_judges_required $least: $path',
    async ({ least, path, reason }) => {
      const execution = await end(
        await start(single(`least-${least}`, aPanel(['judge-clarity', 'no-such-judge'], least))),
      );
      expect(execution.status?.history?.map(({ state }) => state)).toEqual(path);
      expect(execution.status?.history?.[0]?.reason).toBe(reason);
      expect(entryOf(execution)).toMatchObject({
        individual_results: [{ score: 0.8 }, { score: null, error: expect.stringContaining('AgentNotFound') }],
      });
    },
  );

  it.concurrent('AMB-070 AMB-190 a state whose agent cannot start says why, and its timeout cancels the agent', async () => {
    const name = await start(single('never', anAgent('broken', { timeout: '15s' })));
    const waiting = ({ status }: WorkflowExecution): boolean => status?.reason === 'WaitingForAgent';
    await waitForObject(kube, { resource: workflowExecutions, namespace, name }, waiting);
    const execution = await end(name);
    expect(execution.status?.history?.[0]).toMatchObject({ status: 'failed', reason: 'NeverStarted' });
    const child = await childOf(name, ({ status }) => status?.phase === 'cancelled');
    expect(child.spec.cancel).toMatchObject({ by: 'windlass-controllers' });
  });

  it.concurrent('AMB-014 a cancel of the execution cancels its agent', async () => {
    const name = await start(single('cancel', anAgent('broken')));
    await childOf(name);
    const cancel = { by: (await kube.whoAmI()).username, at: new Date().toISOString().replace(/\.\d+Z$/, 'Z') };
    await kube.jsonPatch(workflowExecutions, { namespace, name }, [{ op: 'add', path: '/spec/cancel', value: cancel }]);
    expect((await end(name)).status?.phase).toBe('cancelled');
    await childOf(name, ({ status }) => status?.phase === 'cancelled');
  });

  it.concurrent('an execution that is deleted takes its agents with it', async () => {
    const name = await start(single('delete', anAgent('broken')));
    const child = await childOf(name);
    await kube.delete(workflowExecutions, { namespace, name }, { propagation: 'Background' });
    const fieldSelector = `metadata.name=${child.metadata.name}`;
    await expect(waitForNone(kube, { resource: agentExecutions, namespace, fieldSelector })).resolves.toBe(true);
  });

  it('dev/demo/agents prints what came out', async () => {
    const { stdout } = await run(join(projectDir, 'dev/demo/agents'), { cwd: projectDir });
    expect(stdout).toContain('A shorter default timeout');
  });
});
