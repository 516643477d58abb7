import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createLineages, familyOf, type Lineages, marksOfJudge } from '../../api/cluster/lineages.ts';
import { annotations, labels } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { inheritedLineage } from '../../lib/agent/lineage.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import { type Cache, createCache } from '../../lib/informer/cache.ts';

let agents: Cache<AgentExecution, 'family'>;
let workflows: Cache<WorkflowExecution, 'family'>;
let version: number;
let lineages: Lineages;

beforeEach(() => {
  agents = createCache<AgentExecution, 'family'>({ indexes: { family: familyOf } });
  workflows = createCache<WorkflowExecution, 'family'>({ indexes: { family: familyOf } });
  version = 0;
  lineages = createLineages({ agentExecutions: agents, executions: workflows });
});

function addAgent(uid: string, marks: Readonly<Record<string, string>> = {}): void {
  setAgent({
    apiVersion: 'windlass.dev/v1',
    kind: 'AgentExecution',
    metadata: metadataOf(uid, marks),
    spec: { agent: 'a' },
  });
}

/** A judge of the agent's answer, as ADR 0112 makes it. */
function addJudge(judged: string): void {
  const execution = agents.getByUid(judged);
  if (execution === undefined) throw new Error(`there is no ${judged}`);
  const metadata = metadataOf(`judge-of-${judged}`, marksOfJudge(execution));
  const marked = { ...metadata, labels: { [labels.parentUid]: judged } };
  setAgent({ apiVersion: 'windlass.dev/v1', kind: 'AgentExecution', metadata: marked, spec: { agent: 'a' } });
}

const setAgent = (object: AgentExecution) => agents.apply({ type: 'MODIFIED', object });

const metadataOf = (uid: string, marks: Readonly<Record<string, string>>) => ({
  name: uid,
  uid,
  resourceVersion: String((version += 1)),
  annotations: { ...marks },
});

function addWorkflow(uid: string, marks: Readonly<Record<string, string>>): void {
  const metadata = metadataOf(uid, marks);
  const object = {
    apiVersion: 'windlass.dev/v1',
    kind: 'WorkflowExecution',
    metadata,
    spec: { workflow: 'w' },
  } as const;
  workflows.apply({ type: 'ADDED', object });
}

const marksFor = (uid: string): Record<string, string> => lineages.marksFor({ callingExecution: uid });
const agentUids = (): string[] => [...agents.values()].map(({ metadata }) => metadata.uid ?? '');
const depthOf = (uid: string): number =>
  Number(agents.getByUid(uid)?.metadata.annotations?.[annotations.agentDepth] ?? 0);

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
  const execution = agents.getByUid(uid);
  if (execution === undefined) return;
  const metadata = { ...execution.metadata, resourceVersion: String((version += 1)) };
  setAgent({ ...execution, metadata, status: { phase: 'completed' } });
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
    const panel = workflows.getByUid('panel');
    addAgent('judge', panel === undefined ? {} : inheritedLineage(panel));
    expect(depthOf('judge')).toBe(1);
    addWorkflow('again', marksFor('judge'));
    expect(workflows.getByUid('again')?.metadata.annotations?.[annotations.agentDepth]).toBe('2');
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

  it('ADR 0147 are judged where they fill the family, and their judges take no place of it', () => {
    addAgent('root');
    for (let index = 1; index < limits.agentFamilyMax; index += 1) addAgent(`child${index}`, marksFor('root'));
    for (let index = 1; index < limits.agentFamilyMax; index += 1) addJudge(`child${index}`);
    expect(refusalOf('root')).toBeUndefined();
    addAgent('last', marksFor('root'));
    addJudge('last');
    expect(refusalOf('root')).toEqual({ status: 429, error: 'agent_family_full' });
    // The judge's own starts have a place each.
    expect(refusalOf('judge-of-last')).toEqual({ status: 429, error: 'agent_family_full' });
    endAgent('child1');
    expect(refusalOf('judge-of-last')).toBeUndefined();
  });

  it('ADR 0147 are judged down to the depth at which they start nothing more', () => {
    addAgent('d0');
    for (let depth = 1; depth < limits.agentDepthMax; depth += 1) addAgent(`d${depth}`, marksFor(`d${depth - 1}`));
    addJudge(`d${limits.agentDepthMax - 1}`);
    const judge = `judge-of-d${limits.agentDepthMax - 1}`;
    expect(depthOf(judge)).toBe(limits.agentDepthMax);
    expect(() => addJudge(judge)).toThrow(HttpError);
  });

  it('stay within the bound when every one of them starts what it can', () => {
    addAgent('bomb');
    for (let round = 0; round < 10; round += 1) {
      for (const uid of agentUids()) if (refusalOf(uid) === undefined) addAgent(`${agents.size}`, marksFor(uid));
    }
    expect(agents.size).toBe(limits.agentFamilyMax + 1);
    expect(Math.max(...agentUids().map(depthOf))).toBe(limits.agentDepthMax);
  });

  it('are counted without a walk over the executions of other families and tenants', () => {
    addAgent('root');
    for (let index = 0; index < 100; index += 1)
      addAgent(`stranger${index}`, { ...marksFor('root'), [annotations.agentRoot]: 'other' });
    for (let index = 0; index < 3; index += 1) addAgent(`child${index}`, marksFor('root'));
    const walks = [agents, workflows].map((cache) => vi.spyOn(cache, 'values'));
    const found = vi.spyOn(agents, 'byIndex');
    marksFor('root');
    for (const walk of walks) expect(walk).not.toHaveBeenCalled();
    expect(found.mock.results.map(({ value }) => value.length)).toEqual([3]);
  });

  it('start nothing once they are gone, and people start what they like', () => {
    expect(refusalOf('deleted')).toMatchObject({});
    expect(lineages.marksFor({})).toEqual({});
  });
});
