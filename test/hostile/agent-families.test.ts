import { beforeEach, describe, expect, it } from 'vitest';
import { createLineages, type Lineages } from '../../api/cluster/lineages.ts';
import { annotations } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { inheritedLineage } from '../../lib/agent/lineage.ts';
import { HttpError } from '../../lib/http/http-error.ts';

let agents: Map<string, AgentExecution>;
let workflows: Map<string, WorkflowExecution>;
let lineages: Lineages;

beforeEach(() => {
  agents = new Map();
  workflows = new Map();
  lineages = createLineages({
    agentExecutions: { getByUid: (uid) => agents.get(uid), values: () => agents.values() },
    executions: { getByUid: (uid) => workflows.get(uid), values: () => workflows.values() },
  });
});

function addAgent(uid: string, marks: Readonly<Record<string, string>> = {}): void {
  const metadata = { name: uid, uid, annotations: { ...marks } };
  agents.set(uid, { apiVersion: 'windlass.dev/v1', kind: 'AgentExecution', metadata, spec: { agent: 'a' } });
}

function addWorkflow(uid: string, marks: Readonly<Record<string, string>>): void {
  const metadata = { name: uid, uid, annotations: { ...marks } };
  workflows.set(uid, { apiVersion: 'windlass.dev/v1', kind: 'WorkflowExecution', metadata, spec: { workflow: 'w' } });
}

const marksFor = (uid: string): Record<string, string> => lineages.marksFor({ callingExecution: uid });
const depthOf = (uid: string): number => Number(agents.get(uid)?.metadata.annotations?.[annotations.agentDepth] ?? 0);

function refusalOf(uid: string): object | undefined {
  try {
    marksFor(uid);
    return undefined;
  } catch (error) {
    if (error instanceof HttpError) return { status: error.options.status, error: error.options.error };
    throw error;
  }
}

function endAgent(uid: string): void {
  const execution = agents.get(uid);
  if (execution !== undefined) agents.set(uid, { ...execution, status: { phase: 'completed' } });
}

/** The attacker may write agents; their models call svc.task.execute and svc.workflow.run as often as they can. */
describe('agents that start agents', () => {
  it('end at a depth, one start before it is granted', () => {
    addAgent('d0');
    for (let depth = 1; depth <= limits.agentDepthMax; depth += 1) addAgent(`d${depth}`, marksFor(`d${depth - 1}`));
    expect(depthOf('d3')).toBe(limits.agentDepthMax);
    expect(refusalOf('d2')).toBeUndefined();
    expect(refusalOf('d3')).toEqual({ status: 422, error: 'agent_depth_exceeded' });
  });

  it('end at a depth also by way of workflows and their panels', () => {
    addAgent('writer');
    addWorkflow('panel', marksFor('writer'));
    const panel = workflows.get('panel');
    addAgent('judge', panel === undefined ? {} : inheritedLineage(panel));
    expect(depthOf('judge')).toBe(1);
    addWorkflow('again', marksFor('judge'));
    expect(workflows.get('again')?.metadata.annotations?.[annotations.agentDepth]).toBe('2');
  });

  it('ADR 0096 end at a depth also where a workflow starts itself by a tool', () => {
    addWorkflow('w0', {});
    for (let depth = 1; depth <= limits.agentDepthMax; depth += 1) addWorkflow(`w${depth}`, marksFor(`w${depth - 1}`));
    expect(refusalOf(`w${limits.agentDepthMax}`)).toEqual({ status: 422, error: 'agent_depth_exceeded' });
  });

  it('have so many executions under way below the first of them, and may continue when one has ended', () => {
    addAgent('root');
    for (let index = 1; index < limits.agentFamilyMax; index += 1) addAgent(`child${index}`, marksFor('root'));
    addWorkflow('last', marksFor('child1'));
    expect(refusalOf('root')).toEqual({ status: 429, error: 'agent_family_full' });
    expect(refusalOf('child2')).toEqual({ status: 429, error: 'agent_family_full' });
    addAgent('stranger');
    expect(refusalOf('stranger')).toBeUndefined();
    endAgent('child1');
    expect(refusalOf('root')).toBeUndefined();
  });

  it('stay within the bound when every one of them starts what it can', () => {
    addAgent('bomb');
    for (let round = 0; round < 10; round += 1) {
      for (const uid of agents.keys()) if (refusalOf(uid) === undefined) addAgent(`${agents.size}`, marksFor(uid));
    }
    expect(agents.size).toBe(limits.agentFamilyMax + 1);
    expect(Math.max(...[...agents.keys()].map(depthOf))).toBe(limits.agentDepthMax);
  });

  it('start nothing once they are gone, and people start what they like', () => {
    expect(refusalOf('deleted')).toMatchObject({});
    expect(lineages.marksFor({})).toEqual({});
  });
});
