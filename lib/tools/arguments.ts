import { isJsonObject } from '../json-object.ts';
import { isTooDeep, tooDeep } from '../nesting.ts';
import { requiredMessage } from '../json-schema/assertions.ts';
import type { SchemaProblem } from '../json-schema/compiled-schema.ts';
import { validate } from '../json-schema/validate.ts';
import type { ToolRow } from './catalogue/row.ts';
import type { ToolRefusal } from './tool.ts';

/** Bytes of the arguments of one call, as JSON. */
const argumentBytes = 1_048_576;

/** Problems that a refusal names at most. */
const problemsNamed = 5;

/**
 * Why the arguments do not fit the tool; undefined where they do. Required ones come first, in the order of the
 * specification's table (spec 3 §10.2), then those that objects inside them require, then types.
 */
export function argumentProblem(tool: Pick<ToolRow, 'name' | 'input_schema'>, args: unknown): ToolRefusal | undefined {
  const { name, input_schema: schema } = tool;
  if (!isJsonObject(args)) return argumentsRefusal(`arguments must be a JSON object for tool '${name}'`);
  const missing = schema.required?.find((field) => isMissing(tool, args, field));
  if (missing !== undefined) return missingField(tool, missing);
  if (isTooDeep(args)) return argumentsRefusal(`the value ${tooDeep}; send flatter arguments for tool '${name}'`);
  if (Buffer.byteLength(JSON.stringify(args)) > argumentBytes)
    return argumentsRefusal(`they have more than ${argumentBytes} bytes; send less for tool '${name}'`);
  const problems = validate(schema, withoutNulls(args));
  if (problems.length === 0) return undefined;
  const inside = problems.find(missingInside(schema, args));
  if (inside !== undefined) return missingField(tool, inside.path);
  const named = problems.length <= problemsNamed ? problems : validate(schema, withoutNulls(args), problemsNamed);
  return argumentsRefusal(
    `${named.map(({ path, message }) => `${path || 'arguments'} ${message}`).join('; ')} for tool '${name}'`,
  );
}

const missingField = ({ name }: Pick<ToolRow, 'name'>, field: string): ToolRefusal =>
  argumentsRefusal(`required field '${field}' is missing or null for tool '${name}'`);

/**
 * Whether a problem is that of a field, inside the arguments, which its object requires. Its schema knows which these are,
 * so it is asked about the arguments without any null.
 */
function missingInside(schema: unknown, args: Readonly<Record<string, unknown>>): (problem: SchemaProblem) => boolean {
  const lacking = validate(schema, withoutAnyNull(args)).filter(({ message }) => message === requiredMessage);
  const paths = new Set(lacking.map(({ path }) => path));
  return ({ path }) => paths.has(path);
}

/** Items of a list keep their places. */
function withoutAnyNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAnyNull);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(withoutNulls(value)).map(([key, inner]) => [key, withoutAnyNull(inner)]));
}

function isMissing({ name }: Pick<ToolRow, 'name'>, args: Readonly<Record<string, unknown>>, field: string): boolean {
  if (!Object.hasOwn(args, field)) return true;
  const value = args[field];
  // Requirements AMB-132: no command is no argument.
  return value === undefined || value === null || (name === 'cmd.run' && field === 'command' && value === '');
}

/**
 * The arguments that a tool gets: an optional one that is null is one that was not given, except where the schema has a
 * meaning for it.
 */
export function givenArguments(schema: unknown, args: Readonly<Record<string, unknown>>): typeof args {
  const hasNull = Object.values(args).includes(null);
  return hasNull && validate(schema, args, 1).length > 0 ? withoutNulls(args) : args;
}

function withoutNulls(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
}

/** The refusal of arguments: `problem` names the field or the rule, and the tool. */
export const argumentsRefusal = (problem: string): ToolRefusal => ({
  kind: 'arguments',
  code: 'InvalidArguments',
  message: `Invalid tool arguments: ${problem}`,
});
