import { createHash } from 'node:crypto';
import { annotations } from '../../crds/labels.ts';

const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * The object name of a workflow's name: the name itself where Kubernetes takes it, else a hash of it; never a shortened
 * name, which two workflows could share (requirements AMB-089).
 */
export function objectName(name: string): string {
  if (label.test(name)) return name;
  return `wf-${createHash('sha256').update(name).digest('hex').slice(0, 40)}`;
}

/** The workflow's name of an object: its annotation where that belongs to the object's name, else the object's name. */
export function workflowName(metadata: { name: string; annotations?: Readonly<Record<string, string>> }): string {
  const original = metadata.annotations?.[annotations.name];
  return original !== undefined && !label.test(original) && objectName(original) === metadata.name
    ? original
    : metadata.name;
}
