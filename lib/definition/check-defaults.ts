import { limits } from '../../crds/limits.ts';
import { formatPlace, warningAt } from '../../crds/problem.ts';
import { isJsonObject } from '../json-object.ts';
import type { Work } from '../work/work.ts';
import type { DefinitionCheck, Definition } from './definition.ts';

/** A default of an input that a template reads as it is: as in JSON Schema itself, `default` is a remark (AMB-166). */
export const checkDefaults: DefinitionCheck = (definition, work) => {
  const found = defaultsOf(definition.spec.input_schema, []);
  if (found.length === 0) return [];
  const bare = readBare(definition, work);
  const at = ['spec', 'input_schema'];
  return found
    .filter(({ path }) => bare.has(`input.${path.join('.')}`))
    .slice(0, limits.warnings)
    .map(({ path, value }) => {
      const name = `input.${path.join('.')}`;
      const message = `fills in nothing; write {{default ${name} ${literalOf(value)}}} where ${name} is used`;
      const place = [...at, ...path.flatMap((key) => ['properties', key]), 'default'];
      return { ...warningAt(at, 'no_effect', message), path: formatPlace(place) };
    });
};

interface Default {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Levels of objects in objects that are looked at. */
const deepest = 4;
/** Names that a template can read with a dot. */
const plainName = /^[A-Za-z_][\w-]*$/;

/** Fields that may be left out and have a default. One that is required is always there. */
function defaultsOf(schema: unknown, above: readonly string[]): Default[] {
  if (!isJsonObject(schema) || !isJsonObject(schema['properties']) || above.length === deepest) return [];
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(schema['properties']).flatMap(([name, field]) => {
    if (!isJsonObject(field) || !plainName.test(name)) return [];
    const path = [...above, name];
    const own = Object.hasOwn(field, 'default') && !required.includes(name) ? [{ path, value: field['default'] }] : [];
    return [...own, ...defaultsOf(field, path)];
  });
}

/** Names that some template reads without the helper `default`. */
function readBare(definition: Definition, work: Work): ReadonlySet<string> {
  const checked = definition.templates.checked(definition, work);
  const references = checked.flatMap(({ result }) => (result.ok ? result.bareReferences : []));
  return new Set(references.map((parts) => parts.join('.')));
}

/** Longest text that a message repeats. */
const shownLength = 40;

/** The value as a template writes it. */
function literalOf(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const isPlain = typeof value === 'string' && value.length <= shownLength && /^[^'"\\{}\p{Cc}]*$/u.test(value);
  return isPlain ? `'${value}'` : 'VALUE';
}
