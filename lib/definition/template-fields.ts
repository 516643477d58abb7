import type { Place } from '../../crds/problem.ts';
import type { ContainerFields } from '../../crds/schema/container.ts';
import type { StateKind } from '../../crds/schema/state-kinds.ts';
import type { State, StateOf } from '../../crds/schema/state.ts';
import type { WorkflowSpec } from '../../crds/schema/workflow.ts';
import { checkTemplate, type TemplateCheck } from '../template/parse.ts';
import type { Work } from '../work/work.ts';

/** A field that holds a template. */
interface TemplateField {
  readonly at: Place;
  readonly source: string;
}

/** The parts of a definition that hold templates. */
interface Templated {
  readonly spec: Readonly<Partial<Pick<WorkflowSpec, 'output_template'>>>;
  readonly states: readonly { readonly at: Place; readonly state: State }[];
}

type Fields<T> = (state: T, at: Place) => (TemplateField | undefined)[];

const field = (at: Place, source: string | undefined): TemplateField | undefined =>
  source === undefined ? undefined : { at, source };

const mapFields = (at: Place, map: Readonly<Record<string, string>> = {}): TemplateField[] =>
  Object.entries(map).map(([key, source]) => ({ at: [...at, key], source }));

const containerFields: Fields<ContainerFields> = (container, at) => [
  ...container.command.map((source, index) => ({ at: [...at, 'command', index], source })),
  ...mapFields([...at, 'env'], container.env),
];

const fieldsOf: { readonly [K in StateKind]: Fields<StateOf<K>> } = {
  Agent: (state, at) => [
    field([...at, 'intent'], state.intent),
    field([...at, 'input'], state.input),
    ...(state.volumes ?? []).map(({ volume }, index) => field([...at, 'volumes', index, 'volume'], volume)),
  ],
  System: (state, at) => [field([...at, 'command'], state.command), ...mapFields([...at, 'env'], state.env)],
  Human: (state, at) => [field([...at, 'prompt'], state.prompt)],
  ParallelAgents: (state, at) =>
    state.agents.map(({ input }, index) => field([...at, 'agents', index, 'input'], input)),
  ContainerRun: containerFields,
  ParallelContainerRun: (state, at) =>
    state.steps.flatMap((step, index) => containerFields(step, [...at, 'steps', index])),
  Subworkflow: (state, at) => [field([...at, 'input'], state.input)],
};

/** Every template of a definition, in its order. */
function templateFields({ spec, states }: Templated): readonly TemplateField[] {
  return [
    ...mapFields(['spec', 'output_template'], spec.output_template),
    ...states.flatMap(({ at, state }) => stateFields(state, at)),
  ].filter((found) => found !== undefined);
}

function stateFields<K extends StateKind>(state: State & { kind: K }, at: Place): (TemplateField | undefined)[] {
  const read = fieldsOf[state.kind] as Fields<State>;
  const feedbacks = state.transitions.map((rule, index) =>
    field([...at, 'transitions', index, 'feedback'], rule.feedback),
  );
  return [...read(state, at), ...feedbacks];
}

interface CheckedTemplate {
  readonly at: Place;
  readonly result: TemplateCheck;
}

/** The templates of one definition. */
export class CheckedTemplates {
  #checked: readonly CheckedTemplate[] | undefined;

  /**
   * Each template with what the parser says of it. The first call pays for the parsing.
   * @throws WorkBudgetExceeded
   */
  checked(definition: Templated, work: Work): readonly CheckedTemplate[] {
    this.#checked ??= templateFields(definition).map(({ at, source }) => ({ at, result: checkTemplate(source, work) }));
    return this.#checked;
  }
}
