import { apiVersion } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import { errorAt, type Place, type Problem } from '../../crds/problem.ts';
import type { CliToolSpec } from '../../crds/schema/cli-tool.ts';
import { checkDefinition } from '../definition/check.ts';
import { repeatedIndexes } from '../definition/repeated.ts';
import { largeSchemaProblems } from '../json-schema/large-schema.ts';
import { commandOf } from './command-of.ts';
import { toolState, workflowOf } from './workflow-of.ts';

/**
 * Checks of a CLI tool beyond its schema: its templates, its files and the JSON Schema of its arguments. Paths begin with
 * `spec`.
 */
export function checkCliTool(spec: CliToolSpec): readonly Problem[] {
  const large = largeSchemaProblems(spec.input_schema, ['spec', 'input_schema']);
  if (large.length > 0) return large;
  const own = [...timeProblems(spec), ...fileProblems(spec), ...lengthProblems(spec)];
  if (own.length > 0) return own;
  const tool = { apiVersion, kind: 'CliTool', metadata: { name: 'tool' }, spec } as const;
  return checkDefinition(workflowOf(tool, 'tenant').spec)
    .filter(({ severity }) => severity === 'error')
    .map(({ at, rule, message }) => errorAt(placeIn(spec, at), rule, message));
}

const state: Place = ['spec', 'states', toolState];

/** The field of the tool that a place of its workflow comes from. */
function placeIn(spec: CliToolSpec, at: Place): Place {
  if (!state.every((key, index) => at[index] === key)) return at;
  const [field, index, ...rest] = at.slice(state.length);
  const element = field === 'command' && typeof index === 'number' ? commandOf(spec)[index]?.place : undefined;
  return element === undefined ? ['spec', ...at.slice(state.length)] : ['spec', ...element, ...rest];
}

/** A tool that was stored before the kind had this bound: its call would end before the command does. */
function timeProblems({ timeout_seconds: seconds = 0 }: CliToolSpec): Problem[] {
  const most = limits.cliToolTimeoutSecondsMax;
  if (seconds <= most) return [];
  const message = `must be at most ${most}, not ${seconds}: a call of a tool ends after ${limits.toolCallSeconds} seconds; register the tool anew with less`;
  return [errorAt(['spec', 'timeout_seconds'], 'too_large', message)];
}

/** One file a path, and no path below one that is a file. */
function fileProblems({ files = [] }: CliToolSpec): Problem[] {
  const paths = files.map(({ path }) => path);
  const at = (index: number): Place => ['spec', 'files', index, 'path'];
  const repeated = repeatedIndexes(paths).map((index) =>
    errorAt(at(index), 'repeated', `another file has the path ${paths[index]}; give each its own`),
  );
  const below = paths.flatMap((path, index) => {
    const file = paths.find((other) => path.startsWith(`${other}/`));
    return file === undefined ? [] : [errorAt(at(index), 'file_path', `${file} is a file; choose another folder`)];
  });
  return [...repeated, ...below];
}

/** The additions of `stdin` and `files` to the command count as its elements. */
function lengthProblems(spec: CliToolSpec): Problem[] {
  const excess = commandOf(spec).length - limits.commandElements;
  if (excess <= 0) return [];
  const most = spec.command.length - excess;
  return [errorAt(['spec', 'command'], 'too_long', `may have ${most} elements beside this stdin and these files`)];
}
