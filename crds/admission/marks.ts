import { archiveFinalizer, group } from '../labels.ts';
import { celList } from '../rules/cel-text.ts';
import type { AdmissionRule } from './policy.ts';

/** Labels and annotations by which our processes know what is theirs. */
export interface Marks {
  readonly labels?: readonly string[];
  readonly annotations?: readonly string[];
}

type MarkMap = keyof Marks;

/** CEL: a list with the value of a mark, empty without the mark: one without a value is a mark as well. */
const valueOf = (object: string, map: MarkMap, key: string): string => {
  const field = `${object}.metadata.${map}`;
  return `(has(${field}) && ${key} in ${field} ? [${field}[${key}]] : [])`;
};

const before = (map: MarkMap, key: string): string => `(oldObject == null ? [] : ${valueOf('oldObject', map, key)})`;

const changed = (map: MarkMap, keys: readonly string[]): string =>
  `${celList(keys)}.filter(k, ${valueOf('object', map, 'k')} != ${before(map, 'k')})`;

const variableOf = { labels: 'changedLabels', annotations: 'changedAnnotations' } as const;

/** Variables with the keys among `marks` that a write changes, adds or takes away. */
export function markVariables({ labels, annotations }: Marks): Readonly<Record<string, string>> {
  return {
    ...(labels && { [variableOf.labels]: changed('labels', labels) }),
    ...(annotations && { [variableOf.annotations]: changed('annotations', annotations) }),
  };
}

/** Only those for whom `may` holds write `marks`; other users may write everything else. */
export function markRules(marks: Marks, may: string, writer: string): readonly AdmissionRule[] {
  const maps = (['labels', 'annotations'] as const).filter((map) => marks[map] !== undefined);
  return maps.map((map) => ({
    expression: `${may} || size(variables.${variableOf[map]}) == 0`,
    message: `'metadata.${map}[' + variables.${variableOf[map]}[0] + ']: is written by ${writer} only'`,
    reason: 'Forbidden',
  }));
}

/** CEL: the owners of an object. */
export const ownersOf = (object: string): string =>
  `(has(${object}.metadata.ownerReferences) ? ${object}.metadata.ownerReferences : [])`;
/** CEL: one of our kinds owns the object. */
export const isOwned = (object: string): string =>
  `${ownersOf(object)}.exists(o, o.apiVersion.startsWith('${group}/'))`;

/**
 * Kubernetes deletes an object with its owners, and processes of ours find the owner by a reference. Only those for whom `may`
 * holds change the references of an object that one of our kinds owns; its garbage collector may write all objects.
 */
export const keptOwners = (may: string): AdmissionRule => ({
  expression: `${may} || oldObject == null || ${ownersOf('object')} == ${ownersOf('oldObject')} || !(${isOwned('object')} || ${isOwned('oldObject')})`,
  message:
    "'metadata.ownerReferences: of an object that Windlass made are written by Windlass only, not by ' + variables.user",
  reason: 'Forbidden',
});

/** CEL: may update all objects of a kind of ours. */
export const mayUpdateAll = (resource: string): string =>
  `authorizer.group('${group}').resource('${resource}').check('update').allowed()`;

const isHeld = (object: string): string =>
  `(has(${object}.metadata.finalizers) && '${archiveFinalizer}' in ${object}.metadata.finalizers)`;

/** A user who may write all objects of a kind may let one go without its record: then the archive is away for good (AMB-174). */
export const heldForArchive = (resource: string): AdmissionRule => ({
  expression: `oldObject == null || !${isHeld('oldObject')} || ${isHeld('object')} || variables.isController || ${mayUpdateAll(resource)}`,
  message: `'metadata.finalizers: ${archiveFinalizer} is taken off by the Windlass controllers, once the record of the execution is archived'`,
  reason: 'Forbidden',
});
