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
