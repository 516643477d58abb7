import type { Problem } from '../../crds/problem.ts';
import { movedFields } from '../../crds/schema/workflow-manifest.ts';
import { isJsonObject } from '../json-object.ts';
import { formNames, type WorkflowForm } from './form-names.ts';

/** Fields that only an API server writes, or only an object in a cluster has. */
const resourceFields = [
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'generateName',
  'creationTimestamp',
  'managedFields',
  'finalizers',
  'ownerReferences',
];

/**
 * The form of a document: that of the fields by which the two differ. Where both or none exist, it is the custom
 * resource if something of a cluster is there, and else the manifest.
 */
export function formOf(value: unknown, fields: readonly string[] = movedFields): WorkflowForm {
  const { metadata, spec, status } = isJsonObject(value) ? value : {};
  const moved = (part: unknown): boolean => isJsonObject(part) && fields.some((field) => Object.hasOwn(part, field));
  if (moved(spec) !== moved(metadata)) return moved(spec) ? 'resource' : 'manifest';
  const isOfCluster = isJsonObject(metadata) && resourceFields.some((field) => Object.hasOwn(metadata, field));
  return isOfCluster || status !== undefined ? 'resource' : 'manifest';
}

/** A problem of a field that has another place in the form names that place; any other one stays as it is. */
export function withFormHint(form: WorkflowForm, problem: Problem, fields: readonly unknown[] = movedFields): Problem {
  const [root, field, ...deeper] = problem.at;
  if (deeper.length > 0 || !fields.includes(field)) return problem;
  const [right, wrong] = form === 'manifest' ? ['metadata', 'spec'] : ['spec', 'metadata'];
  const isMisplaced = problem.rule === 'unknown_field' && root === wrong;
  const isMissing = problem.rule === 'required' && root === right;
  if (isMisplaced) return { ...problem, message: `unknown field; in the ${formNames[form]} it is ${right}.${field}` };
  if (!isMissing) return problem;
  const other = form === 'manifest' ? formNames.resource : formNames.manifest;
  const message = `is required in the ${formNames[form]}; in the ${other} it is ${wrong}.${field}`;
  return { ...problem, message };
}
