import { isJsonObject } from '../json-object.ts';
import type { ModelMessage } from '../models/models.ts';
import { conversationLimits } from './limits.ts';
import { sizeOfAll } from './state.ts';

/** Part of a window that the conversation may fill; the rest is for what the estimate misses. */
const filled = 0.9;

const leftOut: ModelMessage = {
  role: 'user',
  content: '[Earlier exchanges of this conversation were left out: they do not fit into the context of the model.]',
};

interface Window {
  /** Tokens of the model's context; absent: nothing is left out. */
  readonly contextWindow?: number | undefined;
  readonly maxOutputTokens: number;
  /** Text units of what the model reads beside the messages: definitions of tools, and the schema of the answer. */
  readonly definitions: number;
}

/**
 * The messages that the model is sent. Where they would overflow its context, whole exchanges are left out from behind the
 * task on, the oldest first: an assistant's message is left out with the answers to all its calls, and never without
 * them.
 */
export function fitting(messages: readonly ModelMessage[], window: Window): ModelMessage[] {
  const { contextWindow, maxOutputTokens, definitions } = window;
  const sound = messages.map(withSoundCalls);
  if (contextWindow === undefined) return sound;
  const tokens = Math.max(0, contextWindow * filled - maxOutputTokens);
  const room = Math.max(0, tokens * conversationLimits.unitsPerToken - definitions);
  const [head, exchanges] = [sound.slice(0, taskMessages), exchangesOf(sound.slice(taskMessages))];
  let size = sizeOfAll(sound);
  let dropped = 0;
  while (size > room && dropped < exchanges.length - 1) {
    size -= sizeOfAll(exchanges[dropped] ?? []);
    dropped += 1;
  }
  if (dropped === 0) return sound;
  return [...head, leftOut, ...exchanges.slice(dropped).flat()];
}

/** The system's message and the task. */
const taskMessages = 2;

/** Each list begins with a message of the user or the assistant; answers of tools belong to the one before. */
function exchangesOf(messages: readonly ModelMessage[]): ModelMessage[][] {
  const exchanges: ModelMessage[][] = [];
  for (const message of messages) {
    const last = exchanges.at(-1);
    if (message.role === 'tool' && last !== undefined) last.push(message);
    else exchanges.push([message]);
  }
  return exchanges;
}

/** Providers refuse arguments that are no JSON object, though a model wrote them. */
function withSoundCalls(message: ModelMessage): ModelMessage {
  if (message.role !== 'assistant' || message.tool_calls === undefined) return message;
  return {
    ...message,
    tool_calls: message.tool_calls.map((call) => (isObject(call.arguments) ? call : { ...call, arguments: '{}' })),
  };
}

function isObject(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}
