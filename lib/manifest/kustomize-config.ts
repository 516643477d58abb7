import { group } from '../../crds/labels.ts';
import type { State } from '../../crds/schema/state.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';

/** The place of a field in the form of Kustomize's transformers. */
interface FieldSpec {
  readonly kind: string;
  readonly group: string;
  readonly path: string;
}

/** A transformer configuration of Kustomize, for `configurations:`. */
export interface KustomizeConfig {
  readonly images: readonly FieldSpec[];
  readonly nameReference: readonly { readonly kind: string; readonly fieldSpecs: readonly FieldSpec[] }[];
}

/**
 * Kustomize's configuration for these workflows, so that `images:` finds their images, and so that a prefix or suffix
 * reaches the names of workflows and Secrets where they are referred to. Its paths have no wildcard, and states are
 * in a map: so each state is named.
 */
export function kustomizeConfig(workflows: readonly Pick<Workflow, 'spec'>[]): KustomizeConfig {
  const found = new Map<string, Set<string>>([
    ['images', new Set()],
    ['secrets', new Set()],
    ['workflows', new Set()],
  ]);
  for (const { spec } of workflows) {
    for (const [name, state] of Object.entries(spec.states)) {
      for (const [what, path] of fieldsOf(state)) found.get(what)?.add(`spec/states/${name}/${path}`);
    }
  }
  const specs = (what: string): FieldSpec[] => [...(found.get(what) ?? [])].map((path) => workflowField(path));
  const execution = { kind: 'WorkflowExecution', group, path: 'spec/workflow' };
  const references = [
    { kind: 'Workflow', fieldSpecs: [execution, ...specs('workflows')] },
    { kind: 'Secret', fieldSpecs: specs('secrets') },
  ];
  return { images: specs('images'), nameReference: references.filter(({ fieldSpecs }) => fieldSpecs.length > 0) };
}

const workflowField = (path: string): FieldSpec => ({ kind: 'Workflow', group, path });

type Found = readonly [what: 'images' | 'secrets' | 'workflows', path: string];

function fieldsOf(state: State): Found[] {
  if (state.kind === 'Subworkflow') return [['workflows', 'workflow_id']];
  if (state.kind === 'ContainerRun') return containerFields(state, '');
  if (state.kind !== 'ParallelContainerRun') return [];
  return state.steps.flatMap((step) => containerFields(step, 'steps[]/'));
}

function containerFields({ registry_credentials: secret }: { registry_credentials?: string }, base: string): Found[] {
  return [
    ['images', `${base}image`],
    ...(secret === undefined ? [] : [['secrets', `${base}registry_credentials`] as const]),
  ];
}
