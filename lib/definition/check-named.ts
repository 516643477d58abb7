import { limits } from '../../crds/limits.ts';
import { type Place, type Problem, warningAt } from '../../crds/problem.ts';
import type { State } from '../../crds/schema/state.ts';
import type { WorkflowSpec } from '../../crds/schema/workflow.ts';

/** Objects of one kind, as far as they are known here. */
interface KnownObjects {
  has(nameOrUid: string): boolean;
  /** The name that is probably meant, as the end of a sentence. */
  meant(written: string): string;
}

/** Names that states of a workflow may use. */
export interface KnownNames {
  readonly agent: KnownObjects;
  readonly workflow: KnownObjects;
}

interface Named {
  readonly kind: keyof KnownNames;
  readonly name: string;
  readonly at: Place;
}

/** Everything that a state names: it may have been deployed later than the workflow, and be gone again. */
function namedBy(state: State, at: Place): readonly Named[] {
  if (state.kind === 'Agent') return [{ kind: 'agent', name: state.agent, at: [...at, 'agent'] }];
  if (state.kind === 'Subworkflow') return [{ kind: 'workflow', name: state.workflow_id, at: [...at, 'workflow_id'] }];
  if (state.kind !== 'ParallelAgents') return [];
  // A cache may hold what an older schema let in.
  const { agents = [] } = state as Partial<typeof state>;
  return agents.map(({ agent }, index) => ({ kind: 'agent', name: agent, at: [...at, 'agents', index, 'agent'] }));
}

/** All that the states of a workflow name. */
export const namesIn = ({ states }: Pick<WorkflowSpec, 'states'>): readonly Named[] =>
  Object.entries(states).flatMap(([name, state]) => namedBy(state, ['spec', 'states', name]));

/** Names of the states behind which nothing is; as many as are shown. */
export const missingNames = (spec: Pick<WorkflowSpec, 'states'>, known: KnownNames): readonly Named[] =>
  namesIn(spec)
    .filter(({ kind, name }) => !known[kind].has(name))
    .slice(0, limits.warnings);

/** A warning for each agent and workflow that a state names and that is not there. */
export const checkNamed = (spec: Pick<WorkflowSpec, 'states'>, known: KnownNames): readonly Problem[] =>
  missingNames(spec, known).map(({ kind, name, at }) => {
    const message = `no ${kind} ${name} is here or in the global namespace${known[kind].meant(name)}`;
    return warningAt(at, `unknown_${kind}`, `${message}; this state fails until it is registered`);
  });
