import { isLabelName } from '../../crds/label-name.ts';
import { apiVersion } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import { errorAt, formatPlace, type Place, type Problem } from '../../crds/problem.ts';
import { movedAgentFields } from '../../crds/schema/agent-manifest.ts';
import { isUid } from '../../crds/uid.ts';
import { checkAgent } from '../agent/check-agent.ts';
import { isJsonObject, isStringMap } from '../json-object.ts';
import { checkGiven } from './check-labels.ts';
import { checkNotes } from './check-manifest.ts';
import { checkResource, fixed } from './check-resource.ts';
import { withFormHint } from './form.ts';
import type { WorkflowForm } from './form-names.ts';
import { idAsName } from './object-name.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Everything that is wrong with an agent in its form; paths and words are those of the form. */
export function checkAgentForm(form: WorkflowForm, value: unknown): readonly Problem[] {
  const problems =
    form === 'manifest' ? checkAgentManifest(value) : checkResource(value, { kind: 'Agent', checkSpec: checkAgent });
  return problems.map((problem) => withFormHint(form, problem, movedAgentFields));
}

const topFields = ['apiVersion', 'kind', 'metadata', 'spec'];
const metadataFields = ['name', 'labels', 'annotations', ...movedAgentFields];

function checkAgentManifest(value: unknown): readonly Problem[] {
  if (!isJsonObject(value)) return [errorAt([], 'type', 'must be a map')];
  const { metadata, spec } = value;
  return [
    ...fixed(value, 'apiVersion', apiVersion),
    ...fixed(value, 'kind', 'Agent'),
    ...unknownFields(value, topFields, []),
    ...(isJsonObject(metadata) ? checkMetadata(metadata) : [errorAt(['metadata'], 'required', 'is required')]),
    ...(isJsonObject(spec)
      ? checkSpec(spec, isJsonObject(metadata) ? metadata : {})
      : [errorAt(['spec'], 'required', 'is required')]),
  ];
}

const unknownFields = (value: Fields, known: readonly string[], at: Place): Problem[] =>
  Object.keys(value)
    .filter((field) => !known.includes(field))
    .map((field) => errorAt([...at, field], 'unknown_field', 'unknown field'));

function checkMetadata(metadata: Fields): Problem[] {
  return [
    ...unknownFields(metadata, metadataFields, ['metadata']),
    ...checkName(metadata['name']),
    ...checkMap('labels', metadata['labels']),
    ...checkMap('annotations', metadata['annotations']),
    ...checkGiven(metadata),
    ...checkNotes(metadata),
  ];
}

function checkMap(field: 'labels' | 'annotations', value: unknown): Problem[] {
  if (value === undefined) return [];
  const at = ['metadata', field];
  if (!isStringMap(value)) return [errorAt(at, 'type', 'must be a map of texts')];
  const entries = Object.keys(value).length;
  if (entries <= limits.mapEntries) return [];
  return [errorAt(at, 'too_large', `has ${entries} entries; at most ${limits.mapEntries}`)];
}

function checkName(name: unknown): Problem[] {
  const at = ['metadata', 'name'];
  if (name === undefined) return [errorAt(at, 'required', 'is required')];
  if (typeof name === 'string' && isUid(name)) return [idAsName];
  if (typeof name === 'string' && isLabelName(name)) return [];
  return [errorAt(at, 'pattern', 'must have up to 63 lower-case letters, digits or dashes, no dash first or last')];
}

/** Version and description count as fields of the spec, and are reported where the manifest has them. */
function checkSpec(spec: Fields, metadata: Fields): Problem[] {
  const isMoved = (field: unknown): boolean => (movedAgentFields as readonly unknown[]).includes(field);
  const misplaced = Object.keys(spec).filter(isMoved);
  const own = Object.fromEntries(Object.entries(spec).filter(([field]) => !isMoved(field)));
  const moved = Object.fromEntries(Object.entries(metadata).filter(([field]) => isMoved(field)));
  const toPlace = (problem: Problem): Problem => {
    const [, field, ...rest] = problem.at;
    if (!isMoved(field)) return problem;
    const at = ['metadata', String(field), ...rest];
    return { ...problem, at, path: formatPlace(at) };
  };
  return [
    ...misplaced.map((field) => errorAt(['spec', field], 'unknown_field', 'unknown field')),
    ...checkAgent({ ...own, ...moved }).map(toPlace),
  ];
}
