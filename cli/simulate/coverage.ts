import type { WorkflowSpec } from '../../crds/schema/workflow.ts';
import type { WorkflowExecutionStatus } from '../../crds/schema/workflow-execution-status.ts';

/** A transition rule by its place. */
export interface RuleAt {
  readonly state: string;
  readonly rule: number;
  readonly condition: string;
  readonly target: string;
}

/** The parts of a definition that a number of runs has reached. */
export interface Coverage {
  add(status: WorkflowExecutionStatus): void;
  /** Counts by how runs ended: phase and reason. */
  readonly ends: ReadonlyMap<string, number>;
  unreachedStates(): string[];
  unmatchedRules(): RuleAt[];
}

export function createCoverage({ states }: WorkflowSpec): Coverage {
  const entered = new Set<string>();
  const matched = new Set<string>();
  const ends = new Map<string, number>();
  const place = (state: string, rule: number): string => `${state}\n${rule}`;
  return {
    ends,
    add(status) {
      for (const { state, rule } of status.history ?? []) {
        entered.add(state);
        if (rule !== undefined) matched.add(place(state, rule));
      }
      if (status.current !== undefined) entered.add(status.current.state);
      const end = endOf(status);
      ends.set(end, (ends.get(end) ?? 0) + 1);
    },
    unreachedStates: () => Object.keys(states).filter((state) => !entered.has(state)),
    unmatchedRules: () =>
      Object.entries(states).flatMap(([state, { transitions }]) =>
        transitions.flatMap(({ condition = 'always', target }, rule) =>
          entered.has(state) && !matched.has(place(state, rule)) ? [{ state, rule, condition, target }] : [],
        ),
      ),
  };
}

const endOf = ({ phase, reason = 'Completed' }: WorkflowExecutionStatus): string =>
  reason === 'Completed' ? phase : `${phase}: ${reason}`;
