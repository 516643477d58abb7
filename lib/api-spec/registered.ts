import { createHash } from 'node:crypto';
import { isLabelName } from '../../crds/label-name.ts';
import { globalNamespace } from '../../crds/labels.ts';
import { errorAt, type Problem } from '../../crds/problem.ts';
import { builtInPrefixes } from '../../crds/tool-name.ts';
import { isUid } from '../../crds/uid.ts';
import { isBeingDeleted } from '../being-deleted.ts';

/** Common fields of ApiSpecs, ToolWorkflows and CliTools. */
export interface Registered {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: { readonly name?: string };
}

/** The name by which agents and operators know it. */
export const registeredNameOf = ({ metadata, spec }: Registered): string => spec.name ?? metadata.name;

/** The name of the object that is registered under a name: the same one where Kubernetes takes it. */
export function objectNameOf(name: string): string {
  if (isLabelName(name) && name === name.toLowerCase() && !isUid(name)) return name;
  return `rt-${createHash('sha256').update(name).digest('hex').slice(0, 40)}`;
}

/**
 * The one that has the name where several claim it: a shared one before one of a tenant, then the oldest, then by uid. Age
 * alone would let a tenant take a name before all others share it (AMB-124, ADR 0133). One that is
 * being deleted has none, though a finalizer may keep it for long (ADR 0158).
 */
export function holderOf<T extends Registered>(rivals: readonly T[]): T | undefined {
  const alive = rivals.filter((rival) => !isBeingDeleted(rival));
  return alive.toSorted((a, b) => compare(rankOf(a), rankOf(b)))[0];
}

export const isShared = ({ metadata }: Registered): boolean => metadata.namespace === globalNamespace;

const rankOf = (object: Registered): string => `${isShared(object) ? 0 : 1}/${ageOf(object)}`;
const ageOf = ({ metadata }: Registered): string => `${metadata.creationTimestamp ?? ''}/${metadata.uid ?? ''}`;
const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

/** Names that belong to built-in tools; the same rule is in the definitions of the kinds. */
export function builtInNameProblems(name: string): readonly Problem[] {
  if (!builtInPrefixes.some((prefix) => name.startsWith(prefix))) return [];
  return [
    errorAt(['name'], 'reserved', `begins with ${builtInPrefixes.join(', ')}, as built-in tools do; choose another`),
  ];
}
