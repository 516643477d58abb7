import { createLoopTurns } from '../loop-turns.ts';
import { callArguments } from '../models/call-arguments.ts';
import type { ModelMessage, ModelToolCall } from '../models/models.ts';

/** Texts that are parsed in one turn of the event loop; one text more may follow. */
const turnLength = 65_536;

/** The messages of a conversation as any provider takes them. */
export type SoundMessages = (messages: readonly ModelMessage[]) => Promise<readonly ModelMessage[]>;

/**
 * Providers refuse arguments that are no JSON object, or are nested deeply, though a model wrote them. Each message is judged once,
 * however often it is sent, and a long history in several turns.
 */
export function createSoundMessages(): SoundMessages {
  const judged = new WeakMap<ModelMessage, ModelMessage>();
  return async (messages) => {
    const spend = createLoopTurns(turnLength);
    for (const message of messages) {
      if (message.role !== 'assistant' || message.tool_calls === undefined || judged.has(message)) continue;
      const calls: ModelToolCall[] = [];
      for (const call of message.tool_calls) {
        calls.push(soundCall(call));
        await spend(call.arguments.length);
      }
      const isSound = calls.every((call, index) => call === message.tool_calls?.[index]);
      judged.set(message, isSound ? message : { ...message, tool_calls: calls });
    }
    return messages.map((message) => judged.get(message) ?? message);
  };
}

const soundCall = (call: ModelToolCall): ModelToolCall =>
  callArguments(call.arguments) === undefined ? { ...call, arguments: '{}' } : call;
