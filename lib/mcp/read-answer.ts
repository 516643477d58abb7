import { cutText } from '../cut-text.ts';
import { AppError } from '../errors.ts';
import { isJsonObject } from '../json-object.ts';
import { isTooDeep, tooDeep } from '../nesting.ts';
import { mcpLimits } from './limits.ts';

export interface McpAnswer {
  readonly content: string;
  readonly structured?: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

/** The answer of a tool as text, behind `requireFlat`. Images and sounds are named, for no part of ours shows them. */
export function readMcpAnswer(result: Readonly<Record<string, unknown>>): McpAnswer {
  const { content, structuredContent, isError } = result;
  const parts = Array.isArray(content) ? content.map(textOf) : [];
  const structured = isJsonObject(structuredContent) ? structuredContent : undefined;
  const text = parts.length === 0 && structured !== undefined ? JSON.stringify(structured) : parts.join('\n');
  const answer = { content: cut(text), isError: isError === true };
  return structured === undefined ? answer : { ...answer, structured };
}

/** @throws AppError `unavailable` for an answer that is nested deeper than JSON may be: others could not read it. */
export function requireFlat(answer: unknown): void {
  if (isTooDeep(answer)) throw new AppError('unavailable', `the answer ${tooDeep}`);
}

function cut(text: string): string {
  if (text.length <= mcpLimits.answerLength) return text;
  return `${cutText(text, mcpLimits.answerLength)}\n[cut: the answer has ${text.length} characters]`;
}

function textOf(part: unknown): string {
  if (!isJsonObject(part)) return '';
  const { type, text, uri, resource, mimeType } = part;
  if (type === 'text' && typeof text === 'string') return text;
  if (type === 'resource_link' && typeof uri === 'string') return `[link ${uri}]`;
  if (type === 'resource' && isJsonObject(resource)) return resourceText(resource);
  return `[${[type, mimeType].filter((word) => typeof word === 'string').join(' ')}]`;
}

function resourceText({ uri, text }: Readonly<Record<string, unknown>>): string {
  if (typeof text === 'string') return text;
  return typeof uri === 'string' ? `[resource ${uri}]` : '[resource]';
}
