import { kinds } from '../../crds/kinds.ts';
import { errorAt, type Problem } from '../../crds/problem.ts';
import type { Agent } from '../../crds/schema/agent.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { checkKind } from './check-kind.ts';
import type { WorkflowForm } from './form-names.ts';
import { readOneAgent } from './read-agents.ts';
import { readManifest } from './read-manifest.ts';
import { type LocatedProblem, readDocuments } from './yaml-document.ts';

/** The reading of a definition, small enough to be handed from one thread to another. */
export interface ManifestReading {
  /** How the text writes it; absent where it holds no document. */
  readonly form?: WorkflowForm;
  /** The first thousand; those of the rest are counted. */
  readonly problems: readonly LocatedProblem[];
  readonly furtherProblems: number;
  /** Absent where one of the problems is an error. */
  readonly workflow?: Workflow;
  /** The same where an agent was looked for. */
  readonly agent?: Agent;
}

/** The request to a thread. */
export type ReadingRequest =
  | { readonly kind: 'Workflow' | 'Agent'; readonly text: string }
  | { readonly kind: 'Resource'; readonly text: string; readonly of: string }
  | { readonly kind: 'OpenApi'; readonly text: string; readonly serverUrl?: string | undefined };

/** Problems for every reader. */
const problemsMax = 1_000;

/** As `readManifest`, with a bounded answer. Keeps its thread for a second where a text is made to do that. */
export function readingOf(text: string): ManifestReading {
  const { form, problems, workflow } = readManifest(text);
  return { form, ...bounded(problems), workflow };
}

/** The same for an agent. */
export function agentReadingOf(text: string): ManifestReading {
  const { form, problems, agent } = readOneAgent(text);
  return { form, ...bounded(problems), ...(agent && { agent }) };
}

/** Everything that is wrong with a text that is to be one custom resource of a kind, as `checkKind` finds it. */
function readResource(text: string, kind: string): readonly LocatedProblem[] {
  const [document, ...others] = readDocuments(text);
  const start = { line: 1, column: 1 };
  if (document === undefined) return [{ ...errorAt([], 'documents', 'holds no manifest'), ...start }];
  if (others.length > 0)
    return [{ ...errorAt([], 'documents', `holds ${others.length + 1} documents; give one`), ...start }];
  const { value, problems, positionOf } = document;
  if (problems.length > 0) return problems;
  return problemsOf(value, kind).map((problem) => ({ ...problem, ...positionOf(problem.at) }));
}

function problemsOf(value: unknown, kind: string): readonly Problem[] {
  const definition = kinds.find((one) => one.kind === kind);
  if (definition === undefined) return [errorAt(['kind'], 'unknown', 'is no kind of this installation')];
  return checkKind(value, definition);
}

/** The same for a custom resource of another kind, which is only looked at. */
export const resourceReadingOf = (text: string, kind: string): ManifestReading => bounded(readResource(text, kind));

const bounded = (problems: readonly LocatedProblem[]) => ({
  problems: problems.slice(0, problemsMax),
  furtherProblems: Math.max(0, problems.length - problemsMax),
});
