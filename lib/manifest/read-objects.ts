import { kinds } from '../../crds/kinds.ts';
import { group } from '../../crds/labels.ts';
import { errorAt } from '../../crds/problem.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { meantBy } from '../../crds/similar-name.ts';
import { isJsonObject } from '../json-object.ts';
import { checkKind } from './check-kind.ts';
import type { WorkflowForm } from './form-names.ts';
import { readAgent } from './read-agents.ts';
import { readWorkflow } from './read-workflows.ts';
import { type LocatedProblem, readDocuments, type SourceDocument, type YamlBounds } from './yaml-document.ts';

/** The reading of one document of a file that may hold anything. */
export interface ReadObject {
  /** As the document has them; absent where it has none. */
  readonly kind?: string;
  readonly name?: string;
  /** Not of our API group: it was not looked at. */
  readonly isForeign?: true;
  readonly form: WorkflowForm;
  readonly problems: readonly LocatedProblem[];
  /** The definition, where it is a workflow without errors. */
  readonly workflow?: Workflow;
}

/** Several objects, of which an API document alone may have 5 MiB. */
const bounds: YamlBounds = { bytes: 8 * 1_048_576, tokens: 1_000_000 };

/**
 * Every object of a YAML or JSON text, several documents apart by `---`. Those of our kinds come with everything that
 * is wrong with them, workflows and agents in either form. Every problem has line and column.
 */
export const readObjects = (text: string): readonly ReadObject[] => readDocuments(text, bounds).map(readObject);

function readObject(document: SourceDocument): ReadObject {
  const { value, problems, positionOf } = document;
  const located = (found: readonly ReturnType<typeof errorAt>[]): LocatedProblem[] =>
    found
      .map((problem) => ({ ...problem, ...positionOf(problem.at) }))
      .toSorted((a, b) => a.line - b.line || a.column - b.column);
  if (problems.length > 0) return { form: 'resource', problems };
  if (!isJsonObject(value)) return { isForeign: true, form: 'resource', problems: [] };
  const named = namesOf(value);
  if (isForeign(value)) return { ...named, isForeign: true, form: 'resource', problems: [] };
  if (named.kind === 'Workflow') return { ...named, ...readWorkflow(document) };
  if (named.kind === 'Agent') {
    const { form, problems: found } = readAgent(document);
    return { ...named, form, problems: found };
  }
  const definition = kinds.find(({ kind }) => kind === named.kind);
  const found = definition === undefined ? [unknownKind(named.kind)] : checkKind(value, definition);
  const words = definition === undefined ? [] : document.wordsForKubectl();
  return { ...named, form: 'resource', problems: [...located(found), ...words] };
}

type Fields = Readonly<Record<string, unknown>>;

function namesOf({ kind, metadata }: Fields): Pick<ReadObject, 'kind' | 'name'> {
  const name = isJsonObject(metadata) ? metadata['name'] : undefined;
  return { ...(typeof kind === 'string' && { kind }), ...(typeof name === 'string' && { name }) };
}

/** A document without an API version is ours where it names one of our kinds. */
function isForeign({ apiVersion, kind }: Fields): boolean {
  if (typeof apiVersion === 'string') return apiVersion.split('/')[0] !== group;
  return !kinds.some((one) => one.kind === kind);
}

function unknownKind(kind: string | undefined) {
  if (kind === undefined) return errorAt(['kind'], 'required', 'is required');
  const hint = meantBy(
    kind,
    kinds.map((one) => one.kind),
  );
  return errorAt(['kind'], 'unknown', `is no kind of ${group}${hint}`);
}
