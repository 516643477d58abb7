import { isLabelName } from '../../crds/label-name.ts';
import { apiVersion } from '../../crds/labels.ts';
import { errorAt, type Problem } from '../../crds/problem.ts';
import { isUid } from '../../crds/uid.ts';
import { checkDefinition } from '../definition/check.ts';
import { isStringMap } from '../json-object.ts';
import { checkLabels } from './check-labels.ts';
import { idAsName, isDerivedName, workflowName } from './object-name.ts';

const topFields = ['apiVersion', 'kind', 'metadata', 'spec', 'status'];
const metadataFields = [
  'name',
  'generateName',
  'namespace',
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
  'managedFields',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
];

/** A kind of definition, and what is to be said of its spec. */
interface CheckedKind {
  readonly kind: string;
  readonly checkSpec: (spec: unknown) => readonly Problem[];
  /** The check of a name that is there. Default: that of a definition with versions. */
  readonly checkName?: (name: unknown) => readonly Problem[];
}

const workflow: CheckedKind = { kind: 'Workflow', checkSpec: checkDefinition };

/** Everything that is wrong with a workflow, or another definition, in the form of the custom resource. */
export function checkResource(
  value: unknown,
  { kind, checkSpec, checkName }: CheckedKind = workflow,
): readonly Problem[] {
  if (typeof value !== 'object' || value === null) return [errorAt([], 'type', 'must be a map')];
  const resource = value as Readonly<Record<string, unknown>>;
  const { metadata } = resource;
  return [
    ...fixed(resource, 'apiVersion', apiVersion),
    ...fixed(resource, 'kind', kind),
    ...Object.keys(resource)
      .filter((field) => !topFields.includes(field))
      .map((field) => errorAt([field], 'unknown_field', 'unknown field')),
    ...(typeof metadata === 'object' && metadata !== null
      ? checkMetadata(metadata as Readonly<Record<string, unknown>>, checkName)
      : [errorAt(['metadata'], 'required', 'is required')]),
    ...checkSpec(resource['spec']),
  ];
}

export function fixed(resource: Readonly<Record<string, unknown>>, field: string, wanted: string): Problem[] {
  return resource[field] === wanted ? [] : [errorAt([field], 'enum', `must be ${wanted}`)];
}

function checkMetadata(
  metadata: Readonly<Record<string, unknown>>,
  checkName?: CheckedKind['checkName'],
): readonly Problem[] {
  const { name } = metadata;
  const ofName = checkName ?? (() => checkDefinitionName(metadata));
  return [
    ...Object.keys(metadata)
      .filter((field) => !metadataFields.includes(field))
      .map((field) => errorAt(['metadata', field], 'unknown_field', 'unknown field')),
    ...(name === undefined ? [errorAt(['metadata', 'name'], 'required', 'is required')] : ofName(name)),
    ...checkLabels(metadata),
  ];
}

function checkDefinitionName(metadata: Readonly<Record<string, unknown>>): Problem[] {
  const { name } = metadata;
  const isName = typeof name === 'string' && isLabelName(name);
  const message = 'must have up to 63 lower-case letters, digits or dashes, no dash first or last';
  if (!isName) return [errorAt(['metadata', 'name'], 'pattern', message)];
  if (isUid(name)) return [idAsName];
  return isDerivedName(name) && !recordsItsName(metadata) ? [reservedName] : [];
}

const reservedName = errorAt(
  ['metadata', 'name'],
  'reserved_name',
  'is the form of names that Windlass derives; choose another, or write the manifest form',
);

/** As an object that was read from a cluster does: with the name that its object name was derived from. */
function recordsItsName({ name, labels, annotations }: Readonly<Record<string, unknown>>): boolean {
  if (typeof name !== 'string' || !isStringMap(annotations)) return false;
  return workflowName({ name, annotations, ...(isStringMap(labels) ? { labels } : {}) }) !== name;
}
