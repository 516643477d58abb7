import type { Workflow } from '../../crds/schema/workflow.ts';
import { movedFields, type WorkflowManifest } from '../../crds/schema/workflow-manifest.ts';
import { checkManifest } from './check-manifest.ts';
import { checkResource } from './check-resource.ts';
import { toCustomResource } from './convert.ts';
import { type LocatedProblem, readDocuments, type SourceDocument } from './yaml-document.ts';

/** How a document writes a workflow: with version and schemas under `metadata` (spec 1 §2.6) or under `spec`. */
export type WorkflowForm = 'manifest' | 'resource';

/** What one document of a file says. Without errors among the problems there is a workflow. */
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

function readWorkflow(document: SourceDocument): ReadWorkflow {
  const { value, problems: syntax, positionOf } = document;
  const form = formOf(value);
  if (syntax.length > 0) return { form, problems: syntax };
  const found = form === 'manifest' ? checkManifest(value) : checkResource(value);
  const problems = found
    .map((problem) => ({ ...problem, ...positionOf(problem.at) }))
    .toSorted((a, b) => a.line - b.line || a.column - b.column);
  if (problems.some(({ severity }) => severity === 'error')) return { form, problems };
  const workflow = form === 'manifest' ? toCustomResource(value as WorkflowManifest) : (value as Workflow);
  return { form, problems, workflow };
}

/** A document is a custom resource when its spec has a field that the manifest keeps under metadata. */
function formOf(value: unknown): WorkflowForm {
  const { metadata, spec } = (value ?? {}) as { metadata?: unknown; spec?: unknown };
  const has = (part: unknown): boolean =>
    typeof part === 'object' && part !== null && movedFields.some((field) => Object.hasOwn(part, field));
  return has(spec) && !has(metadata) ? 'resource' : 'manifest';
}
