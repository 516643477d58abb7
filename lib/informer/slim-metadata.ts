import {
  archiveFinalizer,
  annotations as notes,
  captureFinalizer,
  commandsFinalizer,
  group,
  labels,
  outputsFinalizer,
} from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import { defined } from '../defined.ts';
import type { KubeObject, ObjectMeta } from '../kube/index.ts';

type OwnerReference = NonNullable<ObjectMeta['ownerReferences']>[number];

/** Keys that are kept, with the characters that the value of each has at most. */
type KnownKeys = ReadonlyMap<string, number>;

/** Labels and annotations that caches keep. */
interface Marks {
  readonly labels: KnownKeys;
  readonly annotations: KnownKeys;
}

/** Characters of labels or annotations that are kept, of all together; Windlass itself writes fewer. */
const marksLength = 8 * 1024;
/** Kubernetes: length of the value of a label. */
const labelLength = 63;
const allOf = (keys: readonly string[], length: number): KnownKeys => new Map(keys.map((key) => [key, length]));

const ourMarks: Marks = {
  labels: allOf(Object.values(labels), labelLength),
  annotations: allOf(
    Object.values(notes).filter((key) => key !== notes.given),
    marksLength,
  ),
};

/** Those of executions, which are the most. A subject has 255 characters, and no value that Windlass writes is longer. */
export const executionMarks: Marks = {
  labels: allOf(
    [
      labels.workflow,
      labels.workflowUid,
      labels.agent,
      labels.agentUid,
      labels.parentUid,
      labels.stimulus,
      labels.stimulusSource,
      labels.cliTool,
      labels.managedBy,
    ],
    labelLength,
  ),
  annotations: new Map([
    [notes.startedBy, 512],
    [notes.request, 64],
    [notes.reservation, 64],
    [notes.linkedFrom, limits.objectNameLength],
    [notes.linkRoot, limits.uidLength],
    [notes.linkDepth, 8],
    [notes.drivenBy, 256],
    [notes.agentRoot, limits.uidLength],
    [notes.agentDepth, 8],
  ]),
};

/** Each with the text that is held for all objects. */
const ourFinalizers: ReadonlyMap<string, string> = new Map(
  [archiveFinalizer, captureFinalizer, commandsFinalizer, outputsFinalizer].map((finalizer) => [finalizer, finalizer]),
);
/** Finalizers whose places are kept: a finalizer is removed by its place. One of ours behind so many waits for them. */
const finalizersKept = 100;
/** Owners that are kept, and those of them with their texts; an object that Windlass makes has one. */
const ownersKept = 10;
const ownersNamed = 2;
/** Characters of an owner: a kind, its group, a name and a uid. The API server bounds none of them but the name. */
const ownerLength = 384;

/**
 * Metadata without what other people and programs have written, which is of any size: of labels, annotations and
 * finalizers it keeps those that Windlass defines, whatever else begins like them (design §11). `known`: labels and annotations
 * that count on this kind.
 */
export function slimMetadata<M extends ObjectMeta>(metadata: M, known?: Marks): M;
export function slimMetadata(metadata: ObjectMeta, known = ourMarks): ObjectMeta {
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
    labels: marks && picked(marks, known.labels),
    annotations: annotations && picked(annotations, known.annotations),
    finalizers: finalizers?.slice(0, finalizersKept).map((finalizer) => ourFinalizers.get(finalizer) ?? ''),
    ownerReferences: ownerReferences?.filter(counts).slice(0, ownersKept).map(slimOwner),
  });
}

/** A controller that is not ours tells that the object is not ours either. */
const counts = ({ apiVersion, controller }: OwnerReference): boolean =>
  controller === true || apiVersion.startsWith(`${group}/`);

/** An owner of such a name or uid is none of ours, and so are those behind; that there is one is all that counts. */
function slimOwner(owner: OwnerReference, place: number): OwnerReference {
  const { apiVersion, kind, name, uid, controller } = owner;
  if (place < ownersNamed && apiVersion.length + kind.length + name.length + uid.length <= ownerLength) return owner;
  return controller === true ? foreignController : foreignOwner;
}

const foreignOwner: OwnerReference = Object.freeze({
  apiVersion: '',
  kind: '',
  name: '',
  uid: '',
  controller: false,
});
const foreignController: OwnerReference = Object.freeze({ ...foreignOwner, controller: true });

/** For `strip` of an informer whose readers need nothing that others wrote on the object. */
export const stripStrangers = <T extends KubeObject>(object: T): T => ({
  ...object,
  metadata: slimMetadata(object.metadata),
});

/** Asks for each key that is known, not for each that is there. A value without room is left out. */
function picked(fields: Readonly<Record<string, string>>, keys: KnownKeys): Record<string, string> {
  const kept: Record<string, string> = {};
  let room = marksLength;
  for (const [key, length] of keys) {
    const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (value === undefined || value.length > Math.min(room, length)) continue;
    room -= value.length;
    kept[key] = value;
  }
  return kept;
}
