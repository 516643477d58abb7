import { isLabelName } from '../../crds/label-name.ts';
import { annotations, labels } from '../../crds/labels.ts';
import { shortHash } from '../ids.ts';

/** 160 bits, of which nobody finds two names that share them. */
const hashLength = 40;

/**
 * The object name of a workflow's name: the name itself where Kubernetes takes it, else a hash of it; never a shortened
 * name, which two workflows could share (requirements AMB-089).
 */
export function objectName(name: string): string {
  if (isLabelName(name)) return name;
  return `wf-${shortHash(name, hashLength)}`;
}

/** The object name of a workflow that only one user sees: apart from every name of the tenant and of other users. */
export function userObjectName(owner: string, name: string): string {
  return `wu-${shortHash(`${owner}/${name}`, hashLength)}`;
}

interface NamedMetadata {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The workflow's name of an object: its annotation where that belongs to the object's name, else the object's name. */
export function workflowName(metadata: NamedMetadata): string {
  const original = metadata.annotations?.[annotations.name];
  const owner = metadata.labels?.[labels.user];
  if (original === undefined) return metadata.name;
  if (owner !== undefined && userObjectName(owner, original) === metadata.name) return original;
  return !isLabelName(original) && objectName(original) === metadata.name ? original : metadata.name;
}
