import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { anEnd, aQuestion, aScript, aWorkflow } from '../builders/workflow-builder.ts';
import { ensureWorkflow, startExecution, waitUntilFinished } from './harness/executions.ts';
import { workflows } from './harness/kinds.ts';
import { type UsedControllers, useControllers } from './harness/used-controllers.ts';
import { waitForObject } from './harness/wait.ts';

let used: UsedControllers;
beforeAll(async () => {
  used = await useControllers('ends');
});
afterAll(() => used?.release());

const kubectl = async (...args: string[]): Promise<{ stdout: string; stderr: string }> =>
  promisify(execFile)('kubectl', ['-n', used.namespace, ...args]);

const inPlace = (workflow: Workflow): Workflow => ({
  ...workflow,
  metadata: { ...workflow.metadata, namespace: used.namespace },
});

async function ended(workflow: Workflow): Promise<WorkflowExecution> {
  const { name } = workflow.metadata;
  const ref = { namespace: used.namespace, name };
  await ensureWorkflow(used.kube, inPlace(workflow));
  await startExecution(used.kube, ref, { workflow: name });
  return waitUntilFinished(used.kube, ref, { timeoutMs: 120_000 });
}

describe('the end of an execution', () => {
  it('AMB-169 a terminal state that failed shows in reason and conditions, and kubectl wait sees the end', async () => {
    const { status, metadata } = await ended(aWorkflow('fails-last').state('a', aScript('exit 3')).build());
    expect(status).toMatchObject({ phase: 'completed', reason: 'LastStateFailed' });
    expect(status?.conditions).toMatchObject([
      { type: 'Succeeded', status: 'False', reason: 'LastStateFailed' },
      { type: 'Finished', status: 'True', reason: 'Completed' },
    ]);
    const wait = await kubectl('wait', '--for=condition=Finished', `wfx/${metadata.name}`, '--timeout=10s');
    expect(wait.stdout).toContain('condition met');
  });

  it('WF-RUN-08 kubectl wait sees the end of one that failed as well', async () => {
    const rules = [{ condition: 'on_success' as const, target: 'b' }];
    const flow = aWorkflow('fails')
      .state('a', { ...aScript('exit 3'), transitions: rules })
      .state('b', anEnd());
    const { metadata } = await ended(flow.build());
    const wait = await kubectl('wait', '--for=condition=Finished', `wfx/${metadata.name}`, '--timeout=10s');
    expect(wait.stdout).toContain('condition met');
  });
});

describe('a workflow with legal traps', () => {
  it('AMB-193 AMB-170 AMB-169 is accepted, kubectl shows warnings, and its status has all of them', async () => {
    const gate = { ...aQuestion('Go?', { yes: 'try', no: 'try' }) };
    const flow = inPlace(
      aWorkflow('traps')
        .state('ask', { ...gate, transitions: gate.transitions.slice(0, 1) })
        .state('try', aScript('true {{sk.output}}', { retry: { max_attempts: 2 } }))
        .build(),
    );
    const child = promisify(execFile)('kubectl', ['apply', '-f', '-']);
    child.child.stdin?.end(stringify(flow));
    const { stderr } = await child;
    expect(stderr).toContain('Warning: ');
    expect(stderr).toContain('spec.states.ask.transitions: no rule matches rejected');
    expect(stderr).toContain('spec.states.try.retry: an attempt may take as long as the state');
    expect(stderr).toContain('spec.states.try: is terminal and can fail');
    const isJudged = ({ status }: Workflow) => status?.observedGeneration === 1;
    const ref = { namespace: used.namespace, name: 'traps' };
    const { status } = await waitForObject(used.kube, { resource: workflows, ...ref }, isJudged);
    expect(status?.conditions).toMatchObject([{ type: 'Ready', status: 'True' }]);
    expect(status?.warnings).toHaveLength(4);
    expect(status?.warnings?.join('\n')).toContain("'sk' is neither a state nor a variable");
  });

  it('AMB-193 a workflow without traps is accepted without a word', async () => {
    const flow = inPlace(
      aWorkflow('clean')
        .state('ask', aQuestion('Go?', { yes: 'end', no: 'end' }))
        .state('end', anEnd())
        .build(),
    );
    const child = promisify(execFile)('kubectl', ['apply', '-f', '-']);
    child.child.stdin?.end(stringify(flow));
    expect((await child).stderr).toBe('');
  });
});
