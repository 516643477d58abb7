import type { Workflow } from '../../crds/schema/workflow.ts';
import { readManifest } from './read-manifest.ts';
import type { LocatedProblem } from './yaml-document.ts';

/** What was read of a manifest, small enough to be handed from one thread to another. */
export interface ManifestReading {
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
  const { problems, workflow } = readManifest(text);
  const furtherProblems = Math.max(0, problems.length - problemsMax);
  return { problems: problems.slice(0, problemsMax), furtherProblems, workflow };
}
