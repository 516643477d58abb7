import type { Static, TObject, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { AppError } from './errors.ts';
import { typedText } from './typed-text.ts';

/** The process's environment, or any record of strings in its place. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One thing wrong with one setting. Never holds its value, which may be a secret. */
export interface ConfigProblem {
  readonly name: string;
  readonly problem: string;
}

/** Everything that is wrong with the configuration, at once. */
export class ConfigError extends AppError {
  override readonly name = 'ConfigError';
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.map(({ name, problem }) => `  ${name}: ${problem}`);
    super('invalid', `the configuration is not usable:\n${lines.join('\n')}`, { reason: 'ConfigInvalid' });
    this.problems = problems;
  }
}

/**
 * Reads settings from environment variables. `schema` is a flat TypeBox object whose property names are the
 * variables' names; each property is a string, integer, number, boolean or an enumeration of strings. An empty
 * variable counts as unset; `default` fills in unset ones; variables the schema does not name are ignored. The
 * result is frozen. Throws ConfigError, which lists every problem and no value.
 */
export function parseConfig<S extends TObject>(schema: S, env: Environment): Readonly<Static<S>> {
  const settings: Record<string, unknown> = {};
  const problems: ConfigProblem[] = [];
  const required = new Set(schema.required ?? []);
  for (const [name, property] of Object.entries<TSchema>(schema.properties)) {
    const text = env[name];
    const value = text === undefined || text === '' ? defaultOf(property) : typedText(text, property);
    if (value !== undefined && Value.Check(property, value)) settings[name] = value;
    else if (value !== undefined) problems.push({ name, problem: `must be ${wordsFor(property)}` });
    else if (required.has(name)) problems.push({ name, problem: `is not set; it must be ${wordsFor(property)}` });
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(settings) as Readonly<Static<S>>;
}

/** The parts of a property that configuration makes use of. */
interface Property {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
}

function defaultOf(property: TSchema): unknown {
  return (property as Property).default;
}

function wordsFor(property: TSchema): string {
  const { type, enum: values, minimum, maximum, pattern } = property as Property;
  if (values !== undefined) return `one of ${values.join(', ')}`;
  if (type === 'boolean') return 'true or false';
  if (pattern !== undefined) return `text that matches ${pattern}`;
  if (type !== 'integer' && type !== 'number') return 'text';
  const bounds = [
    minimum === undefined ? '' : `at least ${minimum}`,
    maximum === undefined ? '' : `at most ${maximum}`,
  ];
  const noun = type === 'integer' ? 'a whole number' : 'a number';
  return [noun, bounds.filter(Boolean).join(' and ')].filter(Boolean).join(', ');
}
