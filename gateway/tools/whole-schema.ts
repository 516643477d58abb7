import { keptSchema } from '../../lib/json-schema/large-schema.ts';
import type { GatewayTool, JsonObject } from './tool-source.ts';

/** The tool with its schema; undefined where it is gone. */
export async function withSchema(tool: GatewayTool): Promise<GatewayTool | undefined> {
  if (tool.readSchema === undefined) return tool;
  const { readSchema, ...rest } = tool;
  const schema = await readSchema();
  return schema && { ...rest, input_schema: keptSchema(schema) as JsonObject };
}
