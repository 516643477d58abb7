import {
  archiveFinalizer,
  annotations as notes,
  captureFinalizer,
  commandsFinalizer,
  group,
  labels,
  outputsFinalizer,
} from '../../crds/labels.ts';
import { defined } from '../defined.ts';
import type { KubeObject, ObjectMeta } from '../kube/index.ts';

type OwnerReference = NonNullable<ObjectMeta['ownerReferences']>[number];

const ourLabels: ReadonlySet<string> = new Set(Object.values(labels));
const ourNotes: ReadonlySet<string> = new Set(Object.values(notes).filter((key) => key !== notes.given));
const ourFinalizers: ReadonlySet<string> = new Set([
  archiveFinalizer,
  captureFinalizer,
  commandsFinalizer,
  outputsFinalizer,
]);
/** Characters of an annotation that are kept; Windlass itself writes none that is longer. */
const noteLength = 8 * 1024;
/** Finalizers whose places are kept: a finalizer is removed by its place. One of ours behind so many waits for them. */
const finalizersKept = 100;
/** Owners that are kept; an object that Windlass makes has one. */
const ownersKept = 10;
/** Characters of a kind, and of a name, of an owner. */
const ownerLength = 320;

/**
 * Metadata without what other people and programs have written, which is of any size: of labels, annotations and
 * finalizers it keeps those that Windlass defines, whatever else begins like them (design §11).
 */
export function slimMetadata<M extends ObjectMeta>(metadata: M): M;
export function slimMetadata(metadata: ObjectMeta): ObjectMeta {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp } = metadata;
  const { labels: marks, annotations, finalizers, ownerReferences } = metadata;
  return defined({
    name,
    namespace,
    uid,
    resourceVersion,
    generation,
    creationTimestamp,
    deletionTimestamp,
    labels: marks && picked(marks, ourLabels),
    annotations: annotations && picked(annotations, ourNotes),
    finalizers: finalizers
      ?.slice(0, finalizersKept)
      .map((finalizer) => (ourFinalizers.has(finalizer) ? finalizer : '')),
    ownerReferences: ownerReferences?.filter(counts).slice(0, ownersKept).map(slimOwner),
  });
}

/** A controller that is not ours tells that the object is not ours either. */
const counts = ({ apiVersion, controller }: OwnerReference): boolean =>
  controller === true || apiVersion.startsWith(`${group}/`);

/** An owner of such a name is none of ours; that there is one is all that counts. */
const slimOwner = (owner: OwnerReference): OwnerReference =>
  owner.apiVersion.length + owner.kind.length + owner.name.length <= ownerLength
    ? owner
    : { apiVersion: '', kind: '', name: '', uid: owner.uid, controller: owner.controller === true };

/** For `strip` of an informer whose readers need nothing that others wrote on the object. */
export const stripStrangers = <T extends KubeObject>(object: T): T => ({
  ...object,
  metadata: slimMetadata(object.metadata),
});

/** Asks for each key that is known, not for each that is there. */
function picked(fields: Readonly<Record<string, string>>, known: ReadonlySet<string>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const key of known) {
    const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (value !== undefined && value.length <= noteLength) kept[key] = value;
  }
  return kept;
}
