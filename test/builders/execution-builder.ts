import type { Json } from '../../crds/schema/parts.ts';
import type { CurrentState, Visit, WorkflowExecutionStatus } from '../../crds/schema/workflow-execution-status.ts';
import type { WorkflowExecution, WorkflowExecutionSpec } from '../../crds/schema/workflow-execution.ts';

/** The moment at which every execution made here begins. */
export const begin = Date.parse('2026-01-02T03:04:05Z');

/** RFC 3339, so many seconds after `begin`. */
export const after = (seconds: number): string => new Date(begin + seconds * 1000).toISOString();

type PastVisit = Partial<Visit> & Pick<Visit, 'state'>;

/** An execution as the API server would return it, under construction. Times are seconds after `begin`. */
export interface ExecutionBuilder {
  with(spec: Partial<WorkflowExecutionSpec>): ExecutionBuilder;
  status(fields: Partial<WorkflowExecutionStatus>): ExecutionBuilder;
  /** A finished visit and what it left on the Blackboard. */
  past(visit: PastVisit, entry?: Json): ExecutionBuilder;
  /** The state it is in. */
  now(current: Partial<CurrentState> & Pick<CurrentState, 'state' | 'kind'>): ExecutionBuilder;
  ended(phase: 'completed' | 'failed' | 'cancelled', seconds: number): ExecutionBuilder;
  build(): WorkflowExecution;
}

export function anExecution(name = 'demo-1'): ExecutionBuilder {
  let spec: WorkflowExecutionSpec = { workflow: 'demo' };
  let status: WorkflowExecutionStatus | undefined;
  const change = (fields: Partial<WorkflowExecutionStatus>): void => {
    const workflow = { name: 'demo', namespace: 'default', uid: 'w', version: '1.0.0', revision: 'demo-r1' };
    status = { phase: 'running', started_at: after(0), workflow, ...status, ...fields };
  };
  const builder: ExecutionBuilder = {
    with(more) {
      spec = { ...spec, ...more };
      return builder;
    },
    status(fields) {
      change(fields);
      return builder;
    },
    past(visit, entry) {
      const times = { entered_at: after(0), finished_at: after(1) };
      const full: Visit = { kind: 'ContainerRun', visit: 1, status: 'success', ...times, ...visit };
      const blackboard = entry === undefined ? {} : { [visit.state]: { value: entry } };
      change({
        history: [...(status?.history ?? []), full],
        blackboard: { ...status?.blackboard, ...blackboard },
        transitions: status?.transitions === undefined ? 0 : status.transitions + 1,
      });
      return builder;
    },
    now(current) {
      const phase = current.kind === 'Human' ? 'waiting' : 'running';
      change({ phase, state: current.state, current: { visit: 1, entered_at: after(1), ...current } });
      return builder;
    },
    ended(phase, seconds) {
      change({ phase, finished_at: after(seconds), current: undefined });
      return builder;
    },
    build: () => ({
      apiVersion: 'windlass.dev/v1',
      kind: 'WorkflowExecution',
      metadata: {
        name,
        namespace: 'default',
        uid: '00000000-0000-4000-8000-000000000001',
        resourceVersion: '1',
        creationTimestamp: after(0),
      },
      spec,
      ...(status === undefined ? {} : { status }),
    }),
  };
  return builder;
}
