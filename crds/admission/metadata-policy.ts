import { ourAnnotations, ourFinalizers, ourLabels } from '../labels.ts';
import { kinds } from '../kinds.ts';
import { limits } from '../limits.ts';
import { celList } from '../rules/cel-text.ts';
import type { AdmissionPolicy, AdmissionRule } from './policy.ts';

/** A list or map of metadata whose entries are bounded. */
interface Bounded {
  readonly field: 'labels' | 'annotations' | 'finalizers' | 'ownerReferences';
  readonly most: number;
  /** Entries that do not count: then no write of a process of ours, which adds one of these, is ever too much. */
  readonly ours: readonly string[];
}

const bounds: readonly Bounded[] = [
  { field: 'labels', most: limits.mapEntries, ours: ourLabels },
  { field: 'annotations', most: limits.mapEntries, ours: ourAnnotations },
  { field: 'finalizers', most: limits.finalizers, ours: ourFinalizers },
  { field: 'ownerReferences', most: limits.owners, ours: [] },
];

/** CEL: how many entries of strangers a field has. Its cost does not grow with those of a map. */
function countOf(object: string, { field, ours }: Bounded): string {
  const value = `${object}.metadata.${field}`;
  const less = ours.length === 0 ? '' : ` - size(${celList(ours)}.filter(k, k in ${value}))`;
  return `has(${value}) ? size(${value})${less} : 0`;
}

/** CEL variables that `metadataBounds` needs. */
export const countVariables: Readonly<Record<string, string>> = Object.fromEntries(
  bounds.flatMap((bound) => [
    [`${bound.field}Count`, countOf('object', bound)],
    [`${bound.field}Before`, `oldObject == null ? 0 : (${countOf('oldObject', bound)})`],
  ]),
);

/** An object that has more, since it is older than its bound, may stay as full as it is or become less so. */
export const metadataBounds: readonly AdmissionRule[] = bounds.map(({ field, most, ours }) => ({
  expression: `variables.${field}Count <= ${most} || variables.${field}Count <= variables.${field}Before`,
  message: `'metadata.${field}: must have at most ${most} entries${ours.length === 0 ? '' : ' beside those of Windlass'}, not ' + string(variables.${field}Count)`,
}));

/**
 * Each process parses the metadata of each object at each change, whatever its caches keep of it. The API server bounds the
 * bytes of annotations, and nothing else of it (ADR 0141).
 */
export const metadataPolicy: AdmissionPolicy = {
  name: 'metadata-bounds',
  resources: kinds.map(({ plural }) => plural),
  operations: ['CREATE', 'UPDATE'],
  variables: countVariables,
  rules: metadataBounds,
};
