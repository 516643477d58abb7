import { isLabelName } from '../../crds/label-name.ts';
import { apiVersion } from '../../crds/labels.ts';
import { errorAt, type Problem } from '../../crds/problem.ts';
import { checkDefinition } from '../definition/check.ts';
import { checkLabels } from './check-labels.ts';

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

/** Everything that is wrong with a workflow in the form of the custom resource. */
export function checkResource(value: unknown): readonly Problem[] {
  if (typeof value !== 'object' || value === null) return [errorAt([], 'type', 'must be a map')];
  const resource = value as Readonly<Record<string, unknown>>;
  const { metadata } = resource;
  return [
    ...fixed(resource, 'apiVersion', apiVersion),
    ...fixed(resource, 'kind', 'Workflow'),
    ...Object.keys(resource)
      .filter((field) => !topFields.includes(field))
      .map((field) => errorAt([field], 'unknown_field', 'unknown field')),
    ...(typeof metadata === 'object' && metadata !== null
      ? checkMetadata(metadata as Readonly<Record<string, unknown>>)
      : [errorAt(['metadata'], 'required', 'is required')]),
    ...checkDefinition(resource['spec']),
  ];
}

function fixed(resource: Readonly<Record<string, unknown>>, field: string, wanted: string): Problem[] {
  return resource[field] === wanted ? [] : [errorAt([field], 'enum', `must be ${wanted}`)];
}

function checkMetadata(metadata: Readonly<Record<string, unknown>>): Problem[] {
  const { name } = metadata;
  return [
    ...Object.keys(metadata)
      .filter((field) => !metadataFields.includes(field))
      .map((field) => errorAt(['metadata', field], 'unknown_field', 'unknown field')),
    ...checkName(name),
    ...checkLabels(metadata),
  ];
}

function checkName(name: unknown): Problem[] {
  if (name === undefined) return [errorAt(['metadata', 'name'], 'required', 'is required')];
  const isName = typeof name === 'string' && isLabelName(name);
  const message = 'must have up to 63 lower-case letters, digits or dashes, no dash first or last';
  return isName ? [] : [errorAt(['metadata', 'name'], 'pattern', message)];
}
