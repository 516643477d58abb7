import { errorAt, warningAt } from '../../crds/problem.ts';
import type { Agent } from '../../crds/schema/agent.ts';
import { type FullAgentManifest, movedAgentFields } from '../../crds/schema/agent-manifest.ts';
import { isJsonObject } from '../json-object.ts';
import { checkAgentForm } from './check-agent-manifest.ts';
import { toAgent, toAgentManifest } from './convert-agent.ts';
import { formOf } from './form.ts';
import type { WorkflowForm } from './form-names.ts';
import { checkShortForms, fullAgent } from './full-agent.ts';
import { type LocatedProblem, manifestBytes, readDocuments, type SourceDocument } from './yaml-document.ts';

/** The reading of one document. Without errors among the problems there is an agent. */
export interface ReadAgent {
  readonly form: WorkflowForm;
  readonly problems: readonly LocatedProblem[];
  readonly agent?: Agent;
}

/**
 * The agents of a YAML or JSON text, as manifests or custom resources, several documents apart by `---`. Every problem has
 * its path in the form that was written, and line and column.
 */
export function readAgents(text: string): readonly ReadAgent[] {
  return readDocuments(text).map(readAgent);
}

/** The same for a text that is to be one agent. */
export function readOneAgent(text: string): ReadAgent {
  const [document, ...others] = readDocuments(text);
  if (document === undefined) return refused('holds no manifest');
  if (others.length > 0) return refused(`holds ${others.length + 1} documents; register one at a time`);
  return readAgent(document);
}

/** The same for one document. */
export function readAgent(document: SourceDocument): ReadAgent {
  const { value: written, problems: syntax, positionOf, wordsForKubectl } = document;
  const form = formOf(written, movedAgentFields);
  if (syntax.length > 0) return { form, problems: syntax };
  const value = fullAgent(written);
  const found = [...checkAgentForm(form, value), ...checkSize(value), ...checkPlace(value)];
  const located = [...found, ...(form === 'resource' ? checkShortForms(written) : [])].map((problem) => ({
    ...problem,
    ...positionOf(problem.at),
  }));
  const problems = [...located, ...(form === 'resource' ? wordsForKubectl() : [])].toSorted(
    (a, b) => a.line - b.line || a.column - b.column,
  );
  if (problems.some(({ severity }) => severity === 'error')) return { form, problems };
  // The manifest's part of a custom resource: fields that an API server has written are left out.
  return {
    form,
    problems,
    agent: toAgent(form === 'manifest' ? (value as FullAgentManifest) : toAgentManifest(value as Agent)),
  };
}

const refused = (message: string): ReadAgent => ({
  form: 'manifest',
  problems: [{ ...errorAt([], 'documents', message), line: 1, column: 1 }],
});

/** A short text can be large: an alias repeats all that it names. */
function checkSize(value: unknown) {
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? '');
  if (bytes <= manifestBytes) return [];
  return [errorAt([], 'too_large', `has ${bytes} bytes as JSON; at most ${manifestBytes} are taken`)];
}

/** The agent's namespace does not depend on a written one. */
function checkPlace(value: unknown) {
  const metadata = isJsonObject(value) ? value['metadata'] : undefined;
  if (!isJsonObject(metadata) || metadata['namespace'] === undefined) return [];
  return [warningAt(['metadata', 'namespace'], 'no_effect', 'is not read; tenant and scope decide the namespace')];
}
