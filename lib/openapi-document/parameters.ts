import { cutText } from '../cut-text.ts';
import { asText, type JsonMap, listOf, mapOf, valueAt } from './json-parts.ts';

/** Parameters that one place is read for, and that a message names of one operation. */
const readMost = 100;
const namedMost = 3;
const refLength = 512;
const nameLength = 64;
/** OpenAPI ignores header parameters of these names: the body and the credentials set them. */
const ignoredHeaders = /^(?:accept|content-type|authorization)$/i;
const places = new Set(['query', 'header', 'cookie']);

/**
 * The first required parameters of an operation outside its path, each as `query page`. An operation replaces a
 * parameter of its path item that has the same name and place.
 */
export function requiredParameters(document: JsonMap, holders: readonly [item: JsonMap, operation: JsonMap]): string[] {
  const required = new Map<string, boolean>();
  for (const { parameters } of holders) {
    for (const given of (listOf(parameters) ?? []).slice(0, readMost)) {
      const parameter = behindReference(document, given);
      const name = parameter && nameOf(parameter);
      if (name !== undefined) required.set(name, parameter?.['required'] === true);
    }
  }
  return [...required].flatMap(([parameter, isRequired]) => (isRequired ? [parameter] : [])).slice(0, namedMost);
}

/** Place and name; undefined for one that is in the path, or that OpenAPI ignores. */
function nameOf({ in: place, name }: JsonMap): string | undefined {
  if (typeof place !== 'string' || typeof name !== 'string' || !places.has(place)) return undefined;
  const isIgnored = place === 'header' && ignoredHeaders.test(name);
  return isIgnored ? undefined : `${place} ${cutText(name, nameLength)}`;
}

/** A document may name one long reference thousands of times, which is then not followed. */
function behindReference(document: JsonMap, given: unknown): JsonMap | undefined {
  const ref = asText(mapOf(given)?.['$ref']);
  if (ref === undefined) return mapOf(given);
  return ref.startsWith('#/') && ref.length <= refLength ? mapOf(valueAt(document, ref)) : undefined;
}
