import { annotations } from '../../../crds/labels.ts';
import { errorAt, type Problem } from '../../../crds/problem.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import { HttpError, type RequestProblem } from '../../../lib/http/http-error.ts';
import { type LocatedProblem, readManifest } from '../../../lib/manifest/index.ts';
import { sentence } from './kube-refusal.ts';
import { isOurs } from './present.ts';

interface ReadBody {
  readonly workflow: Workflow;
  readonly warnings: readonly RequestProblem[];
}

/** Problems that one answer lists; the others are counted. */
const problemsMax = 1_000;

/** The workflow of a manifest. @throws HttpError 400 with every problem and its path (requirements AMB-054). */
export function readBody(text: string): ReadBody {
  const { problems, workflow } = readManifest(text);
  const reserved = workflow === undefined ? [] : reservedKeys(workflow);
  const errors = [...problems.filter(({ severity }) => severity === 'error').map(present), ...reserved];
  if (workflow === undefined || errors.length > 0) throw invalidManifest(errors);
  return { workflow, warnings: problems.map(present) };
}

function invalidManifest(all: readonly RequestProblem[]): HttpError {
  const rest = all.length - problemsMax;
  const more = { path: '', message: `and ${rest} more problems` };
  const details = rest > 0 ? [...all.slice(0, problemsMax), more] : all;
  return new HttpError({ code: 'invalid', error: 'invalid_manifest', message: sentence(all), details });
}

const present = ({ path, message, line, column }: LocatedProblem): RequestProblem => ({
  path,
  message: `${message} (line ${line}, column ${column})`,
});

/** Labels and annotations that say whose a workflow is, and what was forced, are not for a manifest to say. */
function reservedKeys({ metadata }: Workflow): Problem[] {
  const found = (['labels', 'annotations'] as const).flatMap((map) =>
    Object.keys(metadata[map] ?? {})
      .filter((key) => isOurs(key) && !(map === 'annotations' && key === annotations.name))
      .map((key) => errorAt(['metadata', map, key], 'reserved_name', 'keys of windlass.dev are reserved')),
  );
  return found;
}
