import type { ErrorObject } from 'ajv/dist/2020.js';

/**
 * The errors of a value without those of alternatives that it was not meant as. For a union that no alternative fits, ajv
 * reports every alternative: a number out of bounds in the map of a union would be called no string first. The alternative
 * of the value's own type keeps its errors; where there is none, the union has one error.
 */
export function meantErrors(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const unions = new Map(errors.filter(isUnion).map((error) => [keyOf(error.schemaPath, error.instancePath), error]));
  if (unions.size === 0) return errors;
  const misfits = new Set(
    errors.flatMap((error) => {
      const at = alternativesAround(error).find(
        ({ union, instance }) => instance === error.instancePath && unions.has(union),
      );
      return at !== undefined && typing.has(error.keyword) ? [at.alternative] : [];
    }),
  );
  const isMisfit = (union: ErrorObject, index: number): boolean =>
    misfits.has(keyOf(`${union.schemaPath}/${index}`, union.instancePath));
  return errors.filter((error) => {
    if (isUnion(error) && variantsOf(error).some((_, index) => !isMisfit(error, index))) return false;
    return alternativesAround(error).every(({ union, alternative }) => !unions.has(union) || !misfits.has(alternative));
  });
}

/** Schemas of the alternatives of a union. */
export const variantsOf = ({ schema }: ErrorObject): readonly unknown[] => (Array.isArray(schema) ? schema : []);

const isUnion = ({ keyword }: ErrorObject): boolean => keyword === 'anyOf';

/** Keywords whose error says that a value is of another kind than the alternative. */
const typing: ReadonlySet<string> = new Set(['type', 'enum', 'const']);

const keyOf = (schemaPath: string, instancePath: string): string => `${schemaPath}\n${instancePath}`;

interface Alternative {
  /** Key of the union. */
  readonly union: string;
  /** Key of the alternative of it. */
  readonly alternative: string;
  readonly instance: string;
}

/** Alternatives of which an error may be: a union is of the value itself, or of one that holds it. The nearest comes last. */
function alternativesAround({ schemaPath, instancePath }: ErrorObject): Alternative[] {
  return [...schemaPath.matchAll(/\/anyOf(?=\/\d+\/)/g)].flatMap(({ index }) => {
    const union = schemaPath.slice(0, index + '/anyOf'.length);
    const [number = ''] = /^\/\d+/.exec(schemaPath.slice(union.length)) ?? [];
    return placesTo(instancePath).map((instance) => ({
      union: keyOf(union, instance),
      alternative: keyOf(union + number, instance),
      instance,
    }));
  });
}

/** A JSON pointer and those of the values that hold it. */
function placesTo(pointer: string): string[] {
  const parts = pointer.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
