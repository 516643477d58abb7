import { isLabelName } from '../../crds/label-name.ts';
import { annotations, labels } from '../../crds/labels.ts';
import { errorAt } from '../../crds/problem.ts';
import { derivedWorkflowNamePattern, fileToolWorkflowNamePattern } from '../../crds/reserved-names.ts';
import { shortHash } from '../ids.ts';

/** 160 bits, for which no two names with the same hash can be found. */
const hashLength = 40;
const derivedName = new RegExp(derivedWorkflowNamePattern);
const fileToolName = new RegExp(fileToolWorkflowNamePattern);

/** Refuses a name in the form of an id: wherever a workflow is named, an id means the workflow of that id (ADR 0050). */
export const idAsName = errorAt(['metadata', 'name'], 'reserved_name', 'has the form of an id; choose another');

/**
 * The object name of a workflow's name. It is the name itself where Kubernetes takes it, else a hash of it. It is never
 * a shortened name, which two workflows could share (requirements AMB-089). A name in the form of a derived one is
 * hashed as well, so that no manifest takes the object of another workflow, or of file tools.
 */
export function objectName(name: string): string {
  if (isLabelName(name) && !isNameOfOurs(name)) return name;
  return `wf-${shortHash(name, hashLength)}`;
}

/** The object name of a workflow that only one user sees: apart from every name of the tenant and of other users. */
export function userObjectName(owner: string, name: string): string {
  return `wu-${shortHash(`${owner}/${name}`, hashLength)}`;
}

/** Whether an object name has the form of those that `objectName` and `userObjectName` make of a hash. */
export const isDerivedName = (name: string): boolean => derivedName.test(name);

/** Whether an object of this name is never that of a manifest which has the name: it is derived, or of file tools. */
export const isNameOfOurs = (name: string): boolean => isDerivedName(name) || fileToolName.test(name);

interface NamedMetadata {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The workflow's name of an object: its annotation where that belongs to the object's name, else the object's name. */
export function workflowName(metadata: NamedMetadata): string {
  const original = metadata.annotations?.[annotations.name];
  if (original === undefined) return metadata.name;
  if (isOfUser(metadata) || objectName(original) === metadata.name) return original;
  return metadata.name;
}

/** Whether the object name is the one that owner and name of a user's own workflow make. */
export function isOfUser({ name, labels: given, annotations: notes }: NamedMetadata): boolean {
  const [owner, original] = [given?.[labels.user], notes?.[annotations.name]];
  return owner !== undefined && original !== undefined && userObjectName(owner, original) === name;
}
