import { limits } from '../../crds/limits.ts';
import { errorAt, type Problem, warningAt } from '../../crds/problem.ts';
import { registeredNamePattern } from '../../crds/tool-name.ts';
import { toolNameProblem } from '../tools/known-names.ts';
import { parseJson } from '../work/parse-json.ts';
import type { Work } from '../work/work.ts';
import { isJsonObject } from '../json-object.ts';
import type { DefinitionCheck, NamedState } from './definition.ts';

/** The System command that calls a tool (ADR 0096). */
export const callToolCommand = 'call_tool';

/** The problem of a field of `env` of a `call_tool` state. */
interface CallToolProblem {
  readonly field: string;
  readonly rule: 'required' | 'pattern' | 'unknown_field';
  readonly message: string;
}

const toolName = new RegExp(registeredNamePattern);
const contextName = new RegExp(`^[a-z0-9]([a-z0-9.-]{0,${limits.objectNameLength - 2}}[a-z0-9])?$`);
const fields = ['tool', 'arguments', 'security_context'];

/**
 * Mistakes in `env` of a `call_tool` state. The names of the tool and of the SecurityContext are no templates: the one who
 * starts an execution does not choose them.
 */
export function callToolProblems(env: Readonly<Record<string, string>>): CallToolProblem[] {
  const { tool, security_context: context } = env;
  const found: CallToolProblem[] = Object.keys(env)
    .filter((field) => !fields.includes(field))
    .map((field) => ({
      field,
      rule: 'unknown_field',
      message: `is unknown to call_tool, which takes ${fields.join(', ')}`,
    }));
  if (tool === undefined) found.push({ field: 'tool', rule: 'required', message: 'is missing; name the tool' });
  else if (!toolName.test(tool))
    found.push({ field: 'tool', rule: 'pattern', message: 'must be the name of a tool as it is, without a template' });
  if (context !== undefined && !contextName.test(context)) {
    const message = 'must be the name of a SecurityContext as it is, without a template';
    found.push({ field: 'security_context', rule: 'pattern', message });
  }
  return found;
}

/** A `call_tool` state names its tool, and its arguments can be an object. */
export const checkCallTool: DefinitionCheck = ({ states }, work) => states.flatMap((named) => problemsOf(named, work));

function problemsOf({ at, state }: NamedState, work: Work): Problem[] {
  if (state.kind !== 'System' || state.command.trim() !== callToolCommand) return [];
  const { env = {} } = state;
  const problems = callToolProblems(env).map(({ field, rule, message }) =>
    errorAt([...at, 'env', field], rule, message),
  );
  return [
    ...problems,
    ...nameProblems([...at, 'env', 'tool'], env['tool']),
    ...argumentProblems([...at, 'env', 'arguments'], env['arguments'], work),
  ];
}

/** A name that begins as those of built-in tools do is one of them, or none. */
function nameProblems(at: NamedState['at'], tool: string | undefined): Problem[] {
  const problem = tool !== undefined && toolName.test(tool) ? toolNameProblem(tool) : undefined;
  if (problem === undefined) return [];
  return [(problem.severity === 'error' ? errorAt : warningAt)(at, 'unknown_reference', problem.message)];
}

/** A text with a template may become JSON. */
function argumentProblems(at: NamedState['at'], source: string | undefined, work: Work): Problem[] {
  if (source === undefined || source.includes('{{')) return [];
  if (isJsonObject(parseJson(source, work)?.value)) return [];
  return [errorAt(at, 'type', 'must be the JSON text of one object')];
}
