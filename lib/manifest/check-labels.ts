import { ourAnnotations, ourLabels } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import { errorAt, type Problem } from '../../crds/problem.ts';
import { isJsonObject } from '../json-object.ts';
import { firstKept, givenMetadata, type MetadataMaps, objectMetadata } from './given-metadata.ts';
import { isLabelValue, isMetadataKey } from './kubernetes-syntax.ts';

/** Labels and annotations of a custom resource: those that Kubernetes takes (WF-MAN-07, WF-MAN-08). */
export function checkLabels(metadata: Readonly<Record<string, unknown>>): Problem[] {
  const maps = mapsOf(metadata);
  const { labels = {}, annotations = {} } = maps;
  return [
    ...Object.entries(labels).flatMap(([name, value]) => [
      ...checkKey('labels', name),
      ...(isLabelValue(value)
        ? []
        : [errorAt(['metadata', 'labels', name], 'label', 'must be empty or up to 63 letters, digits, -, _ or .')]),
    ]),
    ...Object.keys(annotations).flatMap((name) => checkKey('annotations', name)),
    ...checkCount('labels', labels, ourLabels),
    ...checkCount('annotations', annotations, ourAnnotations),
    ...checkKept(givenMetadata(maps)),
    ...checkSize(annotations),
  ];
}

/** As the policy `metadata-bounds` counts them. */
function checkCount(
  field: keyof MetadataMaps,
  map: Readonly<Record<string, string>>,
  ours: readonly string[],
): Problem[] {
  const count = Object.keys(map).filter((key) => !ours.includes(key)).length;
  if (count <= limits.mapEntries) return [];
  const message = `must have at most ${limits.mapEntries} entries beside those of Windlass, not ${count}`;
  return [errorAt(['metadata', field], 'too_large', message)];
}

/** Labels and annotations of a manifest: any texts, as far as its object has room for them (requirements AMB-178). */
export function checkGiven(metadata: Readonly<Record<string, unknown>>): Problem[] {
  const given = mapsOf(metadata);
  return [...checkKept(given), ...checkSize(objectMetadata(given).annotations ?? {})];
}

function checkKept(given: MetadataMaps): Problem[] {
  const kept = firstKept(given);
  const bytes = Buffer.byteLength(JSON.stringify(given));
  if (kept === undefined || bytes <= limits.givenMetadataBytes) return [];
  const [map, key] = kept;
  const message =
    `is none of a Kubernetes object, so all labels and annotations are kept as JSON, which would have ${bytes} bytes; ` +
    `at most ${limits.givenMetadataBytes} are kept`;
  return [errorAt(['metadata', map, key], 'too_large', message)];
}

function checkSize(annotations: Readonly<Record<string, string>>): Problem[] {
  const sizes = Object.entries(annotations).map(([name, value]) => Buffer.byteLength(name) + Buffer.byteLength(value));
  const size = sizes.reduce((sum, each) => sum + each, 0);
  if (size <= limits.annotationBytes) return [];
  const message = `have ${size} bytes in all; at most ${limits.annotationBytes}`;
  return [errorAt(['metadata', 'annotations'], 'too_large', message)];
}

/** Their texts; what is no text is a problem of the schema. */
function mapsOf({ labels, annotations }: Readonly<Record<string, unknown>>): MetadataMaps {
  return {
    ...(labels !== undefined && { labels: texts(labels) }),
    ...(annotations !== undefined && { annotations: texts(annotations) }),
  };
}

const texts = (map: unknown): Record<string, string> =>
  isJsonObject(map)
    ? Object.fromEntries(Object.entries(map).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
    : {};

function checkKey(field: keyof MetadataMaps, name: string): Problem[] {
  if (isMetadataKey(name)) return [];
  const message = 'a key is up to 63 letters, digits, -, _ or ., with a domain and / before it if wanted';
  return [errorAt(['metadata', field, name], 'label', message)];
}
