import { apiVersion } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';

/** The namespace of everything that is simulated. */
export const namespace = 'simulation';

/** The workflow as an execution pins it. */
export function definitionOf({ metadata, spec }: Workflow) {
  const { name } = metadata;
  return { name, namespace, uid: `uid-of-${name}`, version: spec.version, revision: name, spec };
}

/** Finds a child's workflow; one that was not given ends at once, since an answer replaces its run. */
export function lookUp(known: Workflow | undefined, name: string) {
  const states = { end: { kind: 'System', command: 'finalize', transitions: [] } } as const;
  const spec = { version: '0.0.0', initial_state: 'end', states } as unknown as Workflow['spec'];
  const workflow = known ?? { apiVersion, kind: 'Workflow' as const, metadata: { name }, spec };
  return { kind: 'found', definition: definitionOf(workflow) } as const;
}
