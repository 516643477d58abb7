import { errorAt, type Place, type Problem } from '../../crds/problem.ts';
import { openApiLimits } from './limits.ts';

/** Fields that hold data, not schemas: a `$ref` in them refers to nothing. */
const data: ReadonlySet<string> = new Set(['example', 'examples', 'default', 'enum', 'const']);

interface Value {
  readonly value: unknown;
  readonly at: Place;
}

interface Part extends Value {
  readonly value: object;
}

/**
 * References that lead out of the document. Nothing is fetched on behalf of a document, so they would never be followed.
 * Looks at each part once, however many aliases name it.
 */
export function checkReferences(root: unknown): Problem[] {
  const problems: Problem[] = [];
  const seen = new Set<unknown>();
  const whole: Value = { value: root, at: [] };
  const waiting: Part[] = [whole].filter(isCollection);
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    const children = seen.has(part.value) ? [] : childrenOf(part);
    seen.add(part.value);
    problems.push(...children.filter(isForeign).map(({ at }) => foreign(at)));
    waiting.push(...children.filter(isCollection).filter(({ at }) => !data.has(String(at.at(-1)))));
    if (problems.length >= openApiLimits.problems) break;
  }
  return problems;
}

const isCollection = (part: Value): part is Part => typeof part.value === 'object' && part.value !== null;

const childrenOf = ({ value, at }: Part): Value[] =>
  Object.entries(value).map(([key, child]) => ({
    value: child,
    at: [...at, Array.isArray(value) ? Number(key) : key],
  }));

const isForeign = ({ value, at }: Value): boolean =>
  at.at(-1) === '$ref' && typeof value === 'string' && !isLocal(value);

const isLocal = (ref: string): boolean => ref === '#' || ref.startsWith('#/');

const foreign = (at: Place): Problem =>
  errorAt(at, 'reference', 'must begin with #/: references out of the document are not followed; bundle the document');
