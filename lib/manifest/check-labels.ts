import { errorAt, type Problem } from '../../crds/problem.ts';

const word = '[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?';
const key = new RegExp(`^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?${word}$`);
const labelValue = new RegExp(`^(${word})?$`);
/** Kubernetes: all annotations of an object together. */
const annotationBytes = 262_144;

/** Labels and annotations that Kubernetes takes (WF-MAN-07, WF-MAN-08); `metadata` is of either form. */
export function checkLabels(metadata: Readonly<Record<string, unknown>>): Problem[] {
  const annotations = entries(metadata['annotations']);
  const size = annotations.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value), 0);
  return [
    ...entries(metadata['labels']).flatMap(([name, value]) => [
      ...checkKey('labels', name),
      ...(labelValue.test(value)
        ? []
        : [errorAt(['metadata', 'labels', name], 'label', 'must be empty or up to 63 letters, digits, -, _ or .')]),
    ]),
    ...annotations.flatMap(([name]) => checkKey('annotations', name)),
    ...(size > annotationBytes
      ? [errorAt(['metadata', 'annotations'], 'too_large', `have ${size} bytes in all; at most ${annotationBytes}`)]
      : []),
  ];
}

const entries = (map: unknown): [string, string][] =>
  typeof map === 'object' && map !== null
    ? Object.entries(map).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
    : [];

function checkKey(field: 'labels' | 'annotations', name: string): Problem[] {
  if (key.test(name)) return [];
  const message = 'a key is up to 63 letters, digits, -, _ or ., with a domain and / before it if wanted';
  return [errorAt(['metadata', field, name], 'label', message)];
}
