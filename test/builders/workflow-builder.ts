import type { State, StateOf } from '../../crds/schema/state.ts';
import type { Transition } from '../../crds/schema/transition.ts';
import type { Workflow, WorkflowSpec } from '../../crds/schema/workflow.ts';

/** The image of every step in tests; it is on the nodes already. */
export const busybox = 'docker.io/library/busybox:1.36';

/** A workflow under construction: states are added in order, the first one is where it begins. */
export interface WorkflowBuilder {
  state(name: string, state: State): WorkflowBuilder;
  with(fields: Partial<Omit<WorkflowSpec, 'states' | 'initial_state'>>): WorkflowBuilder;
  build(): Workflow;
}

export function aWorkflow(name: string): WorkflowBuilder {
  const states: Record<string, State> = {};
  let fields: Partial<WorkflowSpec> = {};
  const builder: WorkflowBuilder = {
    state(stateName, state) {
      states[stateName] = state;
      return builder;
    },
    with(more) {
      fields = { ...fields, ...more };
      return builder;
    },
    build() {
      const [initial] = Object.keys(states);
      if (initial === undefined) throw new Error(`workflow ${name} has no state`);
      const spec: WorkflowSpec = { version: '1.0.0', ...fields, initial_state: initial, states };
      return { apiVersion: 'windlass.dev/v1', kind: 'Workflow', metadata: { name }, spec };
    },
  };
  return builder;
}

/** Unconditional rule to the next state, or none: a terminal state. */
export const thenGoTo = (target?: string): Transition[] => (target === undefined ? [] : [{ target }]);

/** A ContainerRun of one shell script. */
export function aScript(
  script: string,
  options: { readonly next?: string } & Partial<StateOf<'ContainerRun'>> = {},
): StateOf<'ContainerRun'> {
  const { next, ...fields } = options;
  return {
    kind: 'ContainerRun',
    image: busybox,
    command: ['sh', '-c', script],
    transitions: thenGoTo(next),
    ...fields,
  };
}

/** A System state that writes to the Blackboard. */
export function anUpdate(env: Record<string, string>, next?: string): StateOf<'System'> {
  return { kind: 'System', command: 'update_context', env, transitions: thenGoTo(next) };
}

export const anEnd = (): StateOf<'System'> => ({ kind: 'System', command: 'finalize', transitions: [] });

/** A Human state with one way for yes and one for no. */
export function aQuestion(prompt: string, ways: { readonly yes: string; readonly no: string }): StateOf<'Human'> {
  return {
    kind: 'Human',
    prompt,
    transitions: [
      { condition: 'input_equals_yes', target: ways.yes },
      { condition: 'input_equals_no', target: ways.no },
    ],
  };
}
