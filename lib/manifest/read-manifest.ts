import { errorAt } from '../../crds/problem.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowManifest } from '../../crds/schema/workflow-manifest.ts';
import { checkManifest } from './check-manifest.ts';
import { toCustomResource } from './convert.ts';
import { type LocatedProblem, manifestBytes, readDocuments } from './yaml-document.ts';

/** What a text says that is to be one manifest. Without errors among the problems there is a workflow. */
interface ReadManifest {
  readonly problems: readonly LocatedProblem[];
  readonly workflow?: Workflow;
}

/**
 * The one workflow of a YAML or JSON text in the manifest form, which is the only one that the API takes (requirements
 * AMB-060). Every problem has its path, line and column.
 */
export function readManifest(text: string): ReadManifest {
  const documents = readDocuments(text);
  const [document] = documents;
  if (document === undefined) return refused('holds no manifest');
  if (documents.length > 1) return refused(`holds ${documents.length} documents; register one at a time`);
  const { value, problems: syntax, positionOf } = document;
  if (syntax.length > 0) return { problems: syntax };
  const problems = [...checkManifest(value), ...checkSize(value)].map((problem) => ({
    ...problem,
    ...positionOf(problem.at),
  }));
  if (problems.some(({ severity }) => severity === 'error')) return { problems };
  return { problems, workflow: toCustomResource(value as WorkflowManifest) };
}

const refused = (message: string): ReadManifest => ({
  problems: [{ ...errorAt([], 'documents', message), line: 1, column: 1 }],
});

/** A short text can be large: an alias stands for all that it names. */
function checkSize(value: unknown) {
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? '');
  if (bytes <= manifestBytes) return [];
  return [errorAt([], 'too_large', `has ${bytes} bytes as JSON; at most ${manifestBytes} are taken`)];
}
