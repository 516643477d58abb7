import { annotations, labels } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import { defined } from '../defined.ts';
import { isJsonObject, isStringMap } from '../json-object.ts';
import { ownMember } from '../own-member.ts';
import { domainOf, isLabelValue, isMetadataKey } from './kubernetes-syntax.ts';

type Texts = Readonly<Record<string, string>>;

/** Labels and annotations, of a manifest or of an object. */
export interface MetadataMaps {
  readonly labels?: Texts;
  readonly annotations?: Texts;
}

/** Keys of these domains mean something to Kubernetes and its tools; the manifest of a stranger must not write them. */
const reservedDomain = /(^|\.)(kubernetes\.io|k8s\.io)$/;
/** Except for these, which Kubernetes recommends for applications. */
const recommendedDomain = 'app.kubernetes.io';

function isReserved(key: string): boolean {
  if (key === labels.managedBy) return true;
  const domain = domainOf(key);
  return domain !== recommendedDomain && reservedDomain.test(domain);
}

/** Whether a label or annotation of a manifest becomes one of the object. */
function isTaken(map: keyof MetadataMaps, [key, value]: readonly [string, string]): boolean {
  return isMetadataKey(key) && !isReserved(key) && (map === 'annotations' || isLabelValue(value));
}

/**
 * Labels and annotations of the object of a manifest that has these (requirements AMB-178). Those that the object can
 * have become its own; where one cannot, all of them are kept in one annotation, from which `givenMetadata` reads them.
 */
export function objectMetadata(given: MetadataMaps): MetadataMaps {
  if (firstKept(given) === undefined) return given;
  const own = takenOf(given);
  const { labels: marks, annotations: notes } = given;
  const kept = JSON.stringify(defined({ labels: marks, annotations: notes }));
  return {
    ...(sizeOf(own.labels) > 0 && { labels: own.labels }),
    annotations: { ...own.annotations, [annotations.given]: kept },
  };
}

/** Whether a pair that a manifest has among its labels is a label of its object as well. */
export const isObjectLabel = (key: string, value: string): boolean => isTaken('labels', [key, value]);

/** The first key of a manifest's labels or annotations that its object cannot have. */
export function firstKept(given: MetadataMaps): readonly [keyof MetadataMaps, string] | undefined {
  for (const map of ['labels', 'annotations'] as const) {
    const found = Object.entries(given[map] ?? {}).find((entry) => !isTaken(map, entry));
    if (found !== undefined) return [map, found[0]];
  }
  return undefined;
}

function takenOf(given: MetadataMaps): { labels: Texts; annotations: Texts } {
  const taken = (map: keyof MetadataMaps): Texts =>
    Object.fromEntries(Object.entries(given[map] ?? {}).filter((entry) => isTaken(map, entry)));
  return { labels: taken('labels'), annotations: taken('annotations') };
}

const sizeOf = (map: Texts = {}): number => Object.keys(map).length;

/**
 * Labels of a manifest that its object cannot have and only the annotation keeps; none where the text of the annotation
 * has none of the keys.
 */
export function keptLabels({ annotations: notes }: MetadataMaps, keys: readonly string[]): Texts {
  const text = notes?.[annotations.given];
  if (text === undefined || !keys.some((key) => mayHold(text, key))) return {};
  return keptIn(text).labels ?? {};
}

/** A quick look before the text is parsed. Another program may write any letter as an escape. */
const mayHold = (text: string, key: string): boolean => text.includes(JSON.stringify(key)) || /\\[u/]/.test(text);

/**
 * Labels and annotations as the manifest of an object gives them. They are those that the object has, in whatever way
 * they came to it, and those that only the annotation keeps. `isNoted` says which keys of the object are no part of a
 * manifest.
 */
export function givenMetadata(object: MetadataMaps, isNoted: (key: string) => boolean = () => false): MetadataMaps {
  const { [annotations.given]: text, ...notes } = object.annotations ?? {};
  const kept = text === undefined ? undefined : keptIn(text);
  const whole = (map: keyof MetadataMaps, own: Texts | undefined): Texts | undefined => {
    const shown = Object.fromEntries(Object.entries(own ?? {}).filter(([key]) => !isNoted(key)));
    const all = merged(map, kept?.[map], shown);
    const before = kept === undefined ? own : kept[map];
    // A map that was given empty stays one; a map of which nothing is left does not.
    return sizeOf(all) > 0 || (before !== undefined && sizeOf(before) === 0) ? all : undefined;
  };
  return defined({
    labels: whole('labels', object.labels),
    annotations: whole('annotations', object.annotations && notes),
  });
}

/**
 * In the order in which the manifest had them. Fields that the object could have count as the object has them now, or
 * not at all.
 */
function merged(map: keyof MetadataMaps, kept: Texts = {}, own: Texts): Texts {
  const entries = Object.entries(kept).flatMap((entry): [string, string][] => {
    const value = isTaken(map, entry) ? ownMember(own, entry[0]) : entry[1];
    return value === undefined ? [] : [[entry[0], value]];
  });
  return { ...Object.fromEntries(entries), ...own };
}

/** Any user may write the annotation: another value counts as none. */
function keptIn(text: string): MetadataMaps {
  if (Buffer.byteLength(text) > limits.givenMetadataBytes) return {};
  const value = parsed(text);
  if (!isJsonObject(value)) return {};
  const { labels: marks, annotations: notes } = value;
  return defined({
    labels: isStringMap(marks) ? marks : undefined,
    annotations: isStringMap(notes) ? notes : undefined,
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Written by another program; the object's own labels remain.
    return undefined;
  }
}
