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
/** Characters of labels or annotations that are kept, of all together; Windlass itself writes fewer. */
const notesLength = 8 * 1024;
/** Finalizers whose places are kept: a finalizer is removed by its place. One of ours behind so many waits for them. */
const finalizersKept = 100;
/** Owners that are kept; an object that Windlass makes has one. */
const ownersKept = 10;
/** Characters of an owner: a kind, its group, a name and a uid. The API server bounds none of them but the name. */
const ownerLength = 384;

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

/** An owner of such a name or uid is none of ours; that there is one is all that counts. */
function slimOwner(owner: OwnerReference): OwnerReference {
  const { apiVersion, kind, name, uid, controller } = owner;
  if (apiVersion.length + kind.length + name.length + uid.length <= ownerLength) return owner;
  return { apiVersion: '', kind: '', name: '', uid: '', controller: controller === true };
}

/** For `strip` of an informer whose readers need nothing that others wrote on the object. */
export const stripStrangers = <T extends KubeObject>(object: T): T => ({
  ...object,
  metadata: slimMetadata(object.metadata),
});

/** Asks for each key that is known, not for each that is there. A value without room is left out. */
function picked(fields: Readonly<Record<string, string>>, known: ReadonlySet<string>): Record<string, string> {
  const kept: Record<string, string> = {};
  let room = notesLength;
  for (const key of known) {
    const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (value === undefined || value.length > room) continue;
    room -= value.length;
    kept[key] = value;
  }
  return kept;
}
