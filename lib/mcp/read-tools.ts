import { setImmediate } from 'node:timers/promises';
import { isJsonObject } from '../json-object.ts';
import { checkSchema } from '../json-schema/validate.ts';
import { isTooDeep } from '../nesting.ts';
import { matchesAny } from '../tools/name-pattern.ts';
import { mcpLimits } from './limits.ts';

/** A tool as its server describes it, within our bounds. */
export interface McpTool {
  /** The server's own. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema with `type: object`. */
  readonly input_schema: Readonly<Record<string, unknown>>;
}

interface McpToolList {
  readonly tools: readonly McpTool[];
  /** How many were left out, because they break a bound. */
  readonly leftOut: number;
}

const namePattern = new RegExp(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,${mcpLimits.toolNameLength - 1}}$`);

/** Reads tools page by page. */
interface ToolReader {
  readonly take: (listed: readonly unknown[]) => Promise<void>;
  readonly list: McpToolList;
}

/** Takes tools that fit our bounds and one of the globs; each name once, the first of them. */
export function createToolReader(globs: readonly string[] | undefined): ToolReader {
  const tools = new Map<string, McpTool>();
  let leftOut = 0;
  const isOffered = (name: string): boolean => globs === undefined || matchesAny(globs, name);
  return {
    async take(listed) {
      for (const row of listed) {
        const name = nameOf(row);
        if (name !== undefined && !isOffered(name)) continue;
        const isWanted = name !== undefined && !tools.has(name) && tools.size < mcpLimits.toolsPerServer;
        const tool = isWanted ? readTool(row) : undefined;
        if (tool === undefined) leftOut += 1;
        else tools.set(tool.name, tool);
        // A schema may take some milliseconds.
        if (isWanted) await setImmediate();
      }
    },
    get list() {
      return { tools: [...tools.values()], leftOut };
    },
  };
}

function nameOf(row: unknown): string | undefined {
  const name = isJsonObject(row) ? row['name'] : undefined;
  return typeof name === 'string' && namePattern.test(name) ? name : undefined;
}

function readTool(row: unknown): McpTool | undefined {
  if (!isJsonObject(row)) return undefined;
  const { name, description = '', inputSchema: schema } = row;
  if (typeof name !== 'string' || !namePattern.test(name) || typeof description !== 'string') return undefined;
  if (!isJsonObject(schema) || schema['type'] !== 'object' || isTooDeep(schema)) return undefined;
  if (Buffer.byteLength(JSON.stringify(schema)) > mcpLimits.schemaBytes) return undefined;
  const short = description.slice(0, mcpLimits.descriptionLength).toWellFormed();
  return { name, description: short, input_schema: usable(schema) };
}

/**
 * The schema, or the plain part of one that our validator does not take, such as one with a pattern that takes more
 * than linear time. The server checks the rest itself.
 */
function usable(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (isTaken(schema)) return schema;
  const { properties, required } = schema;
  const members = isJsonObject(properties) ? Object.entries(properties) : [];
  const plain = {
    type: 'object',
    properties: Object.fromEntries(members.map(([name, member]) => [name, plainMember(member)])),
    required: Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [],
  };
  return isTaken(plain) ? plain : { type: 'object' };
}

function plainMember(member: unknown): Readonly<Record<string, unknown>> {
  if (!isJsonObject(member)) return {};
  const { type, description } = member;
  return {
    ...(typeof type === 'string' && { type }),
    ...(typeof description === 'string' && { description }),
  };
}

function isTaken(schema: Readonly<Record<string, unknown>>): boolean {
  try {
    return checkSchema(schema).length === 0;
  } catch {
    // Its work is used up.
    return false;
  }
}
