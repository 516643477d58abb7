import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowForm } from './form-names.ts';
import { readManifest } from './read-manifest.ts';
import type { LocatedProblem } from './yaml-document.ts';

/** What was read of a workflow, small enough to be handed from one thread to another. */
export interface ManifestReading {
  /** How the text writes it; absent where it holds no document. */
  readonly form?: WorkflowForm;
  /** The first thousand; those of the rest are counted. */
  readonly problems: readonly LocatedProblem[];
  readonly furtherProblems: number;
  /** Absent where one of the problems is an error. */
  readonly workflow?: Workflow;
}

/** Problems that anybody reads. */
const problemsMax = 1_000;

/** As `readManifest`, with a bounded answer. Keeps its thread for a second where a text is made to do that. */
export function readingOf(text: string): ManifestReading {
  const { form, problems, workflow } = readManifest(text);
  const furtherProblems = Math.max(0, problems.length - problemsMax);
  return { form, problems: problems.slice(0, problemsMax), furtherProblems, workflow };
}
