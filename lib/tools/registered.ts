import { isJsonObject } from '../json-object.ts';
import { AppError } from '../errors.ts';

/** Address on the bus under which the gateway tells which registered tools there are (ADR 0084). */
export const registeredToolsService = 'gateway.tools';

/** Tools that one agent is offered at most; a model makes nothing of more. */
export const registeredToolsMax = 128;

/** Bytes of heap of the list that one agent is offered, at most. */
export const registeredListBytes = 2 * 1024 * 1024;

/** Whose tools are asked for. */
export interface RegisteredToolsQuery {
  /** Slug. */
  readonly tenant: string;
  /** Name of a security context of the tenant. */
  readonly security_context: string;
  /** Globs: `spec.tools` of an agent. */
  readonly patterns: readonly string[];
}

/** A tool that a tenant has registered, that all share, or that an MCP server has; no built-in one. */
export interface RegisteredTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema with `type: object`. */
  readonly input_schema: Readonly<Record<string, unknown>>;
  /** Whether operators spare its calls the judge (requirements TOOL-RULE-04). Absent, as older gateways say it: no. */
  readonly skip_judge?: boolean;
}

export interface RegisteredTools {
  /** By name. */
  readonly tools: readonly RegisteredTool[];
  /** How many more there are, for which an answer has no room. */
  readonly left_out: number;
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((text) => typeof text === 'string');

/** @throws AppError `invalid`. */
export function readRegisteredQuery(bytes: Uint8Array): RegisteredToolsQuery {
  const query: unknown = JSON.parse(Buffer.from(bytes).toString());
  if (isJsonObject(query)) {
    const { tenant, security_context, patterns } = query;
    if (typeof tenant === 'string' && typeof security_context === 'string' && isTexts(patterns))
      return { tenant, security_context, patterns };
  }
  throw new AppError('invalid', 'the question for registered tools is not of its form');
}

/** @throws AppError `internal`. */
export function readRegisteredTools(bytes: Uint8Array): RegisteredTools {
  const answer: unknown = JSON.parse(Buffer.from(bytes).toString());
  if (isJsonObject(answer)) {
    const { tools, left_out } = answer;
    if (Array.isArray(tools) && tools.every(isTool) && typeof left_out === 'number') return { tools, left_out };
  }
  throw new AppError('internal', 'the list of registered tools is not of its form');
}

const isTool = (value: unknown): value is RegisteredTool =>
  isJsonObject(value) &&
  typeof value['name'] === 'string' &&
  typeof value['description'] === 'string' &&
  isJsonObject(value['input_schema']) &&
  (value['skip_judge'] === undefined || typeof value['skip_judge'] === 'boolean');
