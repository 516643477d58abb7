import { isJsonObject } from '../json-object.ts';
import { isTooDeep, tooDeep } from '../nesting.ts';
import { validate } from '../json-schema/validate.ts';
import type { ToolRow } from './catalogue/row.ts';
import type { ToolRefusal } from './tool.ts';

/** Bytes of the arguments of one call, as JSON. */
const argumentBytes = 1_048_576;

/** Problems that a refusal names at most. */
const problemsNamed = 5;

/**
 * Why the arguments do not fit the tool; undefined where they do. Required ones come first, in the order of the
 * specification's table (spec 3 §10.2), then types.
 */
export function argumentProblem(tool: Pick<ToolRow, 'name' | 'input_schema'>, args: unknown): ToolRefusal | undefined {
  const { name, input_schema: schema } = tool;
  if (!isJsonObject(args)) return argumentsRefusal(`arguments must be a JSON object for tool '${name}'`);
  const missing = schema.required?.find((field) => isMissing(tool, args, field));
  if (missing !== undefined)
    return argumentsRefusal(`required field '${missing}' is missing or null for tool '${name}'`);
  if (isTooDeep(args)) return argumentsRefusal(`the value ${tooDeep}; send flatter arguments for tool '${name}'`);
  if (Buffer.byteLength(JSON.stringify(args)) > argumentBytes)
    return argumentsRefusal(`they have more than ${argumentBytes} bytes; send less for tool '${name}'`);
  const problems = validate(schema, withoutNulls(args), problemsNamed);
  if (problems.length === 0) return undefined;
  return argumentsRefusal(
    `${problems.map(({ path, message }) => `${path || 'arguments'} ${message}`).join('; ')} for tool '${name}'`,
  );
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
