import { annotations } from '../../crds/labels.ts';
import { errorAt, type Problem, warningAt } from '../../crds/problem.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowManifest } from '../../crds/schema/workflow-manifest.ts';
import { checkForm } from './check-form.ts';
import { toCustomResource, toManifest } from './convert.ts';
import { formOf } from './form.ts';
import type { WorkflowForm } from './form-names.ts';
import { type LocatedProblem, manifestBytes, readDocuments } from './yaml-document.ts';

/** The reading of a text that is to be one workflow. Without errors among the problems there is one. */
interface ReadManifest {
  /** Absent where the text holds no document that could have one. */
  readonly form?: WorkflowForm;
  readonly problems: readonly LocatedProblem[];
  readonly workflow?: Workflow;
}

/**
 * The one workflow of a YAML or JSON text, in the manifest form or in that of the custom resource (requirements AMB-060).
 * Every problem has its path, line and column.
 */
export function readManifest(text: string): ReadManifest {
  const documents = readDocuments(text);
  const [document] = documents;
  if (document === undefined) return refused('holds no manifest');
  if (documents.length > 1) return refused(`holds ${documents.length} documents; register one at a time`);
  const { value, problems: syntax, positionOf } = document;
  if (syntax.length > 0) return { problems: syntax };
  const form = formOf(value);
  const problems = [
    ...checkForm(form, value),
    ...checkSize(value),
    ...(form === 'resource' ? checkPlace(value) : []),
  ].map((problem) => ({ ...problem, ...positionOf(problem.at) }));
  if (problems.some(({ severity }) => severity === 'error')) return { form, problems };
  return { form, problems, workflow: workflowOf(form, value) };
}

/**
 * The manifest's part of a custom resource: fields that an API server or another writer has added are left out,
 * and the object's name is made anew.
 */
function workflowOf(form: WorkflowForm, value: unknown): Workflow {
  if (form === 'manifest') return toCustomResource(value as WorkflowManifest);
  const { metadata, ...rest } = toManifest(value as Workflow);
  const { annotations: given = {}, ...named } = metadata;
  const notes = Object.entries(given).filter(([key]) => key !== annotations.name);
  const annotated = notes.length === 0 ? {} : { annotations: Object.fromEntries(notes) };
  return toCustomResource({ ...rest, metadata: { ...named, ...annotated } });
}

/** The workflow's namespace does not depend on a written one. */
function checkPlace(value: unknown): Problem[] {
  const { metadata } = value as Partial<Workflow>;
  if (metadata?.namespace === undefined) return [];
  return [warningAt(['metadata', 'namespace'], 'no_effect', 'is not read; tenant and scope decide the namespace')];
}

const refused = (message: string): ReadManifest => ({
  problems: [{ ...errorAt([], 'documents', message), line: 1, column: 1 }],
});

/** A short text can be large: an alias repeats all that it names. */
function checkSize(value: unknown) {
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? '');
  if (bytes <= manifestBytes) return [];
  return [errorAt([], 'too_large', `has ${bytes} bytes as JSON; at most ${manifestBytes} are taken`)];
}
