import { annotations } from '../../../crds/labels.ts';
import { errorAt, type Problem } from '../../../crds/problem.ts';
import type { Agent } from '../../../crds/schema/agent.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import { hasReason } from '../../../lib/errors.ts';
import { HttpError, type RequestProblem } from '../../../lib/http/http-error.ts';
import {
  formNames,
  type LocatedProblem,
  type ManifestReader,
  type ManifestReading,
  type WorkflowForm,
} from '../../../lib/manifest/index.ts';
import type { Versioned } from '../../../lib/registration/index.ts';
import { sentence } from './kube-refusal.ts';
import { isOurs } from './present.ts';

interface ReadBody {
  readonly form: WorkflowForm;
  readonly workflow: Workflow;
  readonly warnings: readonly RequestProblem[];
}

/**
 * The workflow of a body in either form, read in the turn of its tenant. @throws HttpError 400 with every problem and its path
 * (requirements AMB-054), 413 where reading it takes too much.
 */
export async function readWorkflowBody(manifests: ManifestReader, text: string, tenant: string): Promise<ReadBody> {
  const reading = await manifests.read(text, tenant).catch((error: unknown) => {
    throw asTooLarge(error);
  });
  return checked(reading, reading.workflow, ({ form, warnings }, workflow) => ({ form, workflow, warnings }));
}

interface ReadAgentBody {
  readonly agent: Agent;
  readonly warnings: readonly RequestProblem[];
}

/** The same for an agent. */
export async function readAgentBody(manifests: ManifestReader, text: string, tenant: string): Promise<ReadAgentBody> {
  const reading = await manifests.read(text, tenant, 'Agent').catch((error: unknown) => {
    throw asTooLarge(error);
  });
  return checked(reading, reading.agent, ({ warnings }, agent) => ({ agent, warnings }));
}

/** The manifest that was read; throws where something is wrong with it. */
function checked<V extends Versioned, T>(
  { form = 'manifest', problems, furtherProblems }: ManifestReading,
  definition: V | undefined,
  present: (about: Pick<ReadBody, 'form' | 'warnings'>, definition: V) => T,
): T {
  const reserved = definition === undefined ? [] : reservedKeys(definition);
  const errors = [...problems.filter(({ severity }) => severity === 'error').map(presentProblem), ...reserved];
  if (definition === undefined || errors.length > 0) throw invalidManifest(form, errors, furtherProblems);
  return present({ form, warnings: problems.map(presentProblem) }, definition);
}

function invalidManifest(form: WorkflowForm, errors: readonly RequestProblem[], further: number): HttpError {
  const details = further > 0 ? [...errors, { path: '', message: `and ${further} more problems` }] : errors;
  const message = `read in the ${formNames[form]}: ${sentence(errors, further)}`;
  return new HttpError({ code: 'invalid', error: 'invalid_manifest', message, details });
}

function asTooLarge(error: unknown): unknown {
  if (!hasReason(error, 'ManifestTooCostly')) return error;
  return new HttpError({ code: 'invalid', status: 413, error: 'payload_too_large', message: error.message });
}

const presentProblem = ({ path, message, line, column }: LocatedProblem): RequestProblem => ({
  path,
  message: `${message} (line ${line}, column ${column})`,
});

/** The annotations in which a manifest keeps what no object has: its name, its labels and annotations. */
const ownNotes: ReadonlySet<string> = new Set([annotations.name, annotations.given]);

/** Labels and annotations that say whose a definition is, and what was forced, are not for a manifest to say. */
function reservedKeys({ metadata }: Versioned): Problem[] {
  const found = (['labels', 'annotations'] as const).flatMap((map) =>
    Object.keys(metadata[map] ?? {})
      .filter((key) => isOurs(key) && !(map === 'annotations' && ownNotes.has(key)))
      .map((key) => errorAt(['metadata', map, key], 'reserved_name', 'keys of windlass.dev are reserved')),
  );
  return found;
}
