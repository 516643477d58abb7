import { catalogue } from '../../lib/tools/catalogue/catalogue.ts';
import type { ToolRow } from '../../lib/tools/catalogue/row.ts';
import type { ToolRefusal } from '../../lib/tools/tool.ts';
import { RefusedCall } from './refused-call.ts';
import type { GatewayTool, ToolSource } from './tool-source.ts';

/**
 * Built-in tools that run in the container of an agent alone (spec 3 §1.5). The listing has them, because SecurityContexts
 * name them; the gateway reaches no container, so that it refuses every call of them.
 */
export function createContainerSource(): ToolSource {
  const rows = [...catalogue.values()].filter(({ name }) => name === 'cmd.run' || name.startsWith('fs.'));
  const tools = new Map(rows.map((row) => [row.name, toolOf(row)]));
  return { list: () => tools.values(), find: (_tenant, name) => tools.get(name) };
}

function toolOf({ name, description, input_schema, skip_judge, fleet_capable }: ToolRow): GatewayTool {
  const refusal = noContainer(name);
  return {
    name,
    description,
    input_schema,
    source: 'builtin',
    skip_judge,
    fleet_capable,
    refusal,
    call: () => Promise.reject(new RefusedCall(refusal)),
  };
}

const noContainer = (name: string): ToolRefusal => ({
  kind: 'policy',
  code: 'NoContainer',
  message: `${name} runs in the container of an agent, and the tool gateway reaches none; POST /v1/seal/invoke of the API takes calls of an agent's session`,
});
