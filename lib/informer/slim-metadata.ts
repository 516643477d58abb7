import { annotations as notes, group, labels, ourFinalizers, ourLabels } from '../../crds/labels.ts';
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

/** Kubernetes: length of the value of a label. */
const labelLength = 63;
/** A subject has 255 characters, which may be escaped. */
const subjectLength = 512;
/** Fifty uids with commas between them (`formerIdsText`). */
const formerIdsLength = 2_048;
const hashLength = 64;

/**
 * Characters of each annotation, none shorter than what Windlass writes. Each has a room of its own: a user writes some of
 * them, and a long value there must displace no mark that admission protects.
 */
const noteLengths: Readonly<Record<Exclude<keyof typeof notes, 'given' | 'webhookSources'>, number>> = {
  name: limits.objectNameLength,
  force: 8,
  user: subjectLength,
  formerIds: formerIdsLength,
  specHash: hashLength,
  version: 128,
  registeredAt: 64,
  state: limits.nameLength,
  step: limits.nameLength,
  startedBy: subjectLength,
  request: hashLength,
  reservation: hashLength,
  linkedFrom: limits.objectNameLength,
  linkRoot: limits.uidLength,
  linkDepth: 8,
  drivenBy: 256,
  conversation: 128,
  agentRoot: limits.uidLength,
  agentDepth: 8,
  /** A name may have characters outside the Basic Multilingual Plane, which count twice here. */
  volume: 2 * limits.nameLength,
  blob: 128,
};
type Note = keyof typeof noteLengths;

const labelsOf = (keys: readonly string[]): KnownKeys => new Map(keys.map((key) => [key, labelLength]));
const notesOf = (names: readonly Note[]): KnownKeys => new Map(names.map((name) => [notes[name], noteLengths[name]]));

const ourMarks: Marks = {
  labels: labelsOf(ourLabels),
  annotations: notesOf(Object.keys(noteLengths) as Note[]),
};

/** Those of executions, which are the most. */
export const executionMarks: Marks = {
  labels: labelsOf([
    labels.workflow,
    labels.workflowUid,
    labels.agent,
    labels.agentUid,
    labels.parentUid,
    labels.stimulus,
    labels.stimulusSource,
    labels.cliTool,
    labels.managedBy,
  ]),
  annotations: notesOf([
    'startedBy',
    'request',
    'reservation',
    'linkedFrom',
    'linkRoot',
    'linkDepth',
    'drivenBy',
    'conversation',
    'agentRoot',
    'agentDepth',
  ]),
};

/** Each with the text that is held for all objects. */
const heldTexts: ReadonlyMap<string, string> = new Map(ourFinalizers.map((finalizer) => [finalizer, finalizer]));
/** Finalizers whose places are kept: a finalizer is removed by its place (`finalizerPlace`). */
export const finalizersKept = 100;
/** Owners that are kept, and those of them with their texts; an object that Windlass makes has one. */
const ownersKept = 10;
const ownersNamed = 2;
/** Characters of an owner: a kind, its group, a name and a uid. The API server bounds none of them but the name. */
const ownerLength = 384;

/**
 * Metadata without what other people and programs have written, which is of any size. It keeps the labels, annotations
 * and finalizers that Windlass defines, whatever else begins like them (design §11). `known`: labels and annotations
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
    finalizers: finalizers && slimFinalizers(finalizers),
    ownerReferences: ownerReferences?.filter(counts).slice(0, ownersKept).map(slimOwner),
  });
}

/** One of ours is kept behind any number of others, though without its place: readers decide by whether it is there. */
function slimFinalizers(finalizers: readonly string[]): readonly string[] {
  const placed = finalizers.slice(0, finalizersKept).map((finalizer) => heldTexts.get(finalizer) ?? '');
  if (finalizers.length <= finalizersKept) return placed;
  const behind = new Set(finalizers.slice(finalizersKept));
  return [...placed, ...ourFinalizers.filter((finalizer) => behind.has(finalizer))];
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

/** The annotation of kubectl apply: a copy of the whole object. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * The default of `strip`: field ownership and kubectl's copy are often most of an object and have no reader here. The API
 * server bounds no number of field managers, so a stranger can fill an object with them (ADR 0141).
 */
export function stripNotes<T extends KubeObject>(object: T): T {
  const { managedFields, ...metadata } = object.metadata;
  const { [lastApplied]: copy, ...annotations } = metadata.annotations ?? {};
  if (managedFields === undefined && copy === undefined) return object;
  return { ...object, metadata: copy === undefined ? metadata : { ...metadata, annotations } };
}

/** For `strip` of an informer whose readers need nothing that others wrote on the object. */
export const stripStrangers = <T extends KubeObject>(object: T): T => ({
  ...object,
  metadata: slimMetadata(object.metadata),
});

/** Asks for each key that is known, not for each that is there. A value that is longer than any of ours is left out. */
function picked(fields: Readonly<Record<string, string>>, keys: KnownKeys): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [key, length] of keys) {
    const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (value !== undefined && value.length <= length) kept[key] = value;
  }
  return kept;
}
