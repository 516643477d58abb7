import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowManifest } from '../../crds/schema/workflow-manifest.ts';
import { checkForm } from './check-form.ts';
import { toCustomResource } from './convert.ts';
import { formOf } from './form.ts';
import type { WorkflowForm } from './form-names.ts';
import { type LocatedProblem, readDocuments, type SourceDocument } from './yaml-document.ts';

/** The reading of one document of a file. Without errors among the problems there is a workflow. */
export interface ReadWorkflow {
  readonly form: WorkflowForm;
  readonly problems: readonly LocatedProblem[];
  /** As the API server takes it; whether the definition is legal is for `problems` to say. */
  readonly workflow?: Workflow;
}

/**
 * The workflows of a YAML or JSON text, in either form, several documents apart by `---`. Every problem has its path in
 * the form that was written, and line and column. Warnings do not keep a workflow from being returned.
 */
export function readWorkflows(text: string): readonly ReadWorkflow[] {
  const documents = readDocuments(text);
  return documents.map(readWorkflow);
}

/** The same for one document. */
export function readWorkflow(document: SourceDocument): ReadWorkflow {
  const { value, problems: syntax, positionOf, wordsForKubectl } = document;
  const form = formOf(value);
  if (syntax.length > 0) return { form, problems: syntax };
  const found = checkForm(form, value).map((problem) => ({ ...problem, ...positionOf(problem.at) }));
  const problems = [...found, ...(form === 'resource' ? wordsForKubectl() : [])].toSorted(
    (a, b) => a.line - b.line || a.column - b.column,
  );
  if (problems.some(({ severity }) => severity === 'error')) return { form, problems };
  const workflow = form === 'manifest' ? toCustomResource(value as WorkflowManifest) : (value as Workflow);
  return { form, problems, workflow };
}
