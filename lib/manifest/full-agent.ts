import { type Problem, warningAt } from '../../crds/problem.ts';
import { isJsonObject } from '../json-object.ts';

/**
 * An agent with its short forms written out: a tool that is a name alone, and `tool_validation: true` (spec 1 §2.1). Places
 * stay where they are, so that problems are found in the text.
 */
export function fullAgent(value: unknown): unknown {
  if (!isJsonObject(value) || !isJsonObject(value['spec'])) return value;
  const { spec } = value;
  return {
    ...value,
    spec: {
      ...spec,
      ...(Array.isArray(spec['tools']) && { tools: spec['tools'].map(fullTool) }),
      ...(isJsonObject(spec['execution']) && { execution: fullExecution(spec['execution']) }),
    },
  };
}

const fullTool = (tool: unknown): unknown => (typeof tool === 'string' ? { name: tool } : tool);

function fullExecution(execution: Readonly<Record<string, unknown>>): unknown {
  const { tool_validation: validation } = execution;
  return typeof validation === 'boolean' ? { ...execution, tool_validation: { enabled: validation } } : execution;
}

/** Short forms of a custom resource: `windlass` and the HTTP API write them out, and kubectl refuses them. */
export function checkShortForms(value: unknown): Problem[] {
  const spec = isJsonObject(value) ? value['spec'] : undefined;
  if (!isJsonObject(spec)) return [];
  const { tools, execution } = spec;
  const validation = isJsonObject(execution) ? execution['tool_validation'] : undefined;
  const short = (at: (string | number)[], full: string): Problem =>
    warningAt(at, 'short_form', `is a short form, which kubectl refuses in a custom resource; write ${full}`);
  return [
    ...(Array.isArray(tools) ? tools : []).flatMap((tool: unknown, index) =>
      typeof tool === 'string' ? [short(['spec', 'tools', index], `{ name: ${tool} }`)] : [],
    ),
    ...(typeof validation === 'boolean'
      ? [short(['spec', 'execution', 'tool_validation'], `{ enabled: ${validation} }`)]
      : []),
  ];
}
