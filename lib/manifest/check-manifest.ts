import { annotations } from '../../crds/labels.ts';
import { errorAt, formatPlace, type Place, type Problem } from '../../crds/problem.ts';
import { movedFields } from '../../crds/schema/workflow-manifest.ts';
import { isUid } from '../../crds/uid.ts';
import { validateManifest } from '../../crds/validators.ts';
import { checkDefinition } from '../definition/check.ts';
import { isJsonObject } from '../json-object.ts';
import { checkGiven } from './check-labels.ts';
import { idAsName } from './object-name.ts';

/** Everything that is wrong with a workflow in the manifest form; paths are those of the manifest. */
export function checkManifest(value: unknown): readonly Problem[] {
  const schema = validateManifest(value);
  if (typeof value !== 'object' || value === null) return schema;
  const { metadata, spec } = value as { metadata?: unknown; spec?: unknown };
  if (!isJsonObject(metadata) || !isJsonObject(spec)) return schema;
  const moved = Object.fromEntries(
    movedFields.filter((field) => field in metadata).map((field) => [field, metadata[field]]),
  );
  const known = new Set(schema.map(({ path }) => path));
  const meaning = checkDefinition({ ...spec, ...moved })
    .map(toManifestPlace)
    .filter(({ path }) => !known.has(path) && !isBothPlaces(path, spec));
  return [...schema, ...meaning, ...checkIdName(metadata), ...checkGiven(metadata), ...checkNotes(metadata)];
}

/** A moved field that is under spec as well is reported once, as unknown there. */
const isBothPlaces = (path: string, spec: Readonly<Record<string, unknown>>): boolean =>
  movedFields.some((field) => field in spec && path === `spec.${field}`);

function toManifestPlace(problem: Problem): Problem {
  const [root, field, ...rest] = problem.at;
  if (root !== 'spec' || !(movedFields as readonly unknown[]).includes(field)) return problem;
  const at: Place = ['metadata', String(field), ...rest];
  const path = problem.path === formatPlace(problem.at) ? formatPlace(at) : problem.path.replace(/^spec/, 'metadata');
  return { ...problem, at, path };
}

const checkIdName = ({ name }: Readonly<Record<string, unknown>>): Problem[] =>
  typeof name === 'string' && isUid(name) ? [idAsName] : [];

/** The annotations that keep what no object has, its name and its labels, are ours to write. */
const ownNotes = [
  [annotations.name, 'the annotation is reserved; metadata.name says the name'],
  [annotations.given, 'the annotation is reserved; write its labels and annotations under metadata'],
] as const;

export function checkNotes({ annotations: notes }: Readonly<Record<string, unknown>>): Problem[] {
  if (!isJsonObject(notes)) return [];
  return ownNotes
    .filter(([key]) => Object.hasOwn(notes, key))
    .map(([key, message]) => errorAt(['metadata', 'annotations', key], 'reserved_name', message));
}
