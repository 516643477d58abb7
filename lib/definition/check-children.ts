import { limits } from '../../crds/limits.ts';
import { type Problem, warningAt } from '../../crds/problem.ts';
import type { WorkflowSpec } from '../../crds/schema/workflow.ts';

/** The definition of a name or uid, as far as it is known here. */
export type FindSpec = (workflow: string) => Promise<Pick<WorkflowSpec, 'states'> | undefined>;

/**
 * Warns of a blocking Subworkflow without a timeout of its own whose child waits for a person: the default of 300 s is
 * hardly ever enough (requirements AMB-193). `spec` satisfies the schema.
 */
export async function checkChildren(
  { states }: Pick<WorkflowSpec, 'states'>,
  find: FindSpec,
): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const [name, state] of Object.entries(states)) {
    if (state.kind !== 'Subworkflow' || state.mode === 'fire_and_forget' || state.timeout !== undefined) continue;
    const child = await find(state.workflow_id);
    const gate = Object.entries(child?.states ?? {}).find(([, { kind }]) => kind === 'Human')?.[0];
    if (gate === undefined) continue;
    const message = `has no timeout, and ${state.workflow_id} waits for a person in its state ${gate}; the default is ${limits.stateTimeoutDefault}`;
    problems.push(warningAt(['spec', 'states', name], 'gate_in_child', message));
  }
  return problems;
}
