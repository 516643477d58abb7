import { renamedCall } from './call-arguments.ts';
import type { ModelMessage, ModelTool } from './models.ts';

/** Providers take letters, digits, `_` and `-`, and 64 of them at most. */
const foreignCharacter = /[^A-Za-z0-9_-]/g;
const nameLength = 64;

/** Names of one conversation in both spellings. */
export interface ToolNames {
  /** For the provider. The same tools in the same order give the same spellings. */
  encode(name: string): string;
  /** Ours; a name that was not offered stays as the model wrote it. */
  decode(name: string): string;
}

export function createToolNames(tools: readonly ModelTool[], messages: readonly ModelMessage[]): ToolNames {
  const encoded = new Map<string, string>();
  const decoded = new Map<string, string>();
  const add = (name: string): string => {
    const known = encoded.get(name);
    if (known !== undefined) return known;
    const spelling = freeSpelling(name, decoded);
    encoded.set(name, spelling);
    decoded.set(spelling, name);
    return spelling;
  };
  for (const { name } of tools) add(name);
  for (const name of messages.flatMap(namesIn)) add(name);
  return { encode: add, decode: (name) => decoded.get(name) ?? name };
}

function freeSpelling(name: string, taken: ReadonlyMap<string, string>): string {
  const plain = name.replaceAll(foreignCharacter, '_');
  let spelling = plain.slice(0, nameLength);
  for (let count = 2; taken.has(spelling); count++) {
    const end = `_${count}`;
    spelling = `${plain.slice(0, nameLength - end.length)}${end}`;
  }
  return spelling;
}

function namesIn(message: ModelMessage): string[] {
  if (message.role === 'tool') return [message.name];
  return message.role === 'assistant' ? (message.tool_calls ?? []).map(({ name }) => name) : [];
}

/** The same message in the spelling of the provider. */
export function encodeMessage(message: ModelMessage, names: ToolNames): ModelMessage {
  if (message.role === 'tool') return { ...message, name: names.encode(message.name) };
  if (message.role !== 'assistant' || message.tool_calls === undefined) return message;
  return { ...message, tool_calls: message.tool_calls.map((call) => renamedCall(call, names.encode(call.name))) };
}
