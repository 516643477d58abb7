import type { ModelMessage } from '../models/models.ts';
import { conversationLimits } from './limits.ts';
import { sizeOfAll } from './state.ts';

/** Part of a window that the conversation may fill; the rest is for what the estimate misses. */
const filled = 0.9;

const noteOfGap: ModelMessage = {
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

interface Fitted {
  /** Messages that the model is sent. */
  readonly messages: ModelMessage[];
  /** Exchanges that it is not sent. */
  readonly leftOut: number;
  /** Nothing of the context is left for the conversation, however short it is. */
  readonly isCrowded: boolean;
}

/**
 * The part of a conversation that fits. Where it would overflow the context, whole exchanges are left out from behind
 * the task on, the oldest first. An assistant's message is left out with the answers to all its calls, and never
 * without them.
 */
export function fitting(messages: readonly ModelMessage[], window: Window): Fitted {
  const room = roomIn(window);
  const [head, exchanges] = [messages.slice(0, taskMessages), exchangesOf(messages.slice(taskMessages))];
  let size = sizeOfAll(messages);
  let leftOut = 0;
  while (size > Math.max(0, room) && leftOut < exchanges.length - 1) {
    size -= sizeOfAll(exchanges[leftOut] ?? []);
    leftOut += 1;
  }
  const sent = leftOut === 0 ? [...messages] : [...head, noteOfGap, ...exchanges.slice(leftOut).flat()];
  return { messages: sent, leftOut, isCrowded: room <= 0 };
}

/** Text units for the conversation; below zero where the rest alone overflows the context. */
function roomIn({ contextWindow, maxOutputTokens, definitions }: Window): number {
  if (contextWindow === undefined) return Number.POSITIVE_INFINITY;
  return (contextWindow * filled - maxOutputTokens) * conversationLimits.unitsPerToken - definitions;
}

/** Parts that fill the context, and the fields that change them. */
export function crowdedBy(alias: string, { contextWindow, maxOutputTokens, definitions }: Window): string {
  const tools = Math.ceil(definitions / conversationLimits.unitsPerToken);
  return (
    `no room for the conversation: context_window of the alias ${alias} is ${contextWindow} tokens, its answer may take ` +
    `${maxOutputTokens}, and definitions of tools with output_schema take about ${tools}; name fewer tools in spec.tools, or ` +
    'lower max_output_tokens or raise context_window of the model in the node configuration'
  );
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
