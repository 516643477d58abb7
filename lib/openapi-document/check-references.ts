import { errorAt, type Place, type Problem } from '../../crds/problem.ts';
import { openApiLimits } from './limits.ts';

/** Fields that hold data, not schemas: a `$ref` in them refers to nothing. */
const data: ReadonlySet<string> = new Set(['example', 'examples', 'default', 'enum', 'const']);

interface Part {
  readonly value: object;
  readonly at: Place;
}

/**
 * References that lead out of the document. Nothing is fetched on behalf of a document, so they would never be followed.
 * Looks at each part once, however many aliases name it.
 */
export function checkReferences(root: unknown): Problem[] {
  const problems: Problem[] = [];
  const seen = new Set<object>();
  const waiting: Part[] = typeof root === 'object' && root !== null ? [{ value: root, at: [] }] : [];
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (seen.has(part.value)) continue;
    seen.add(part.value);
    for (const [key, value] of Object.entries(part.value)) {
      const at = [...part.at, Array.isArray(part.value) ? Number(key) : key];
      if (key === '$ref' && typeof value === 'string' && !isLocal(value)) problems.push(foreign(at));
      if (typeof value === 'object' && value !== null && !data.has(key)) waiting.push({ value, at });
    }
    if (problems.length >= openApiLimits.problems) break;
  }
  return problems;
}

const isLocal = (ref: string): boolean => ref === '#' || ref.startsWith('#/');

const foreign = (at: Place): Problem =>
  errorAt(at, 'reference', 'must begin with #/: references out of the document are not followed; bundle the document');
