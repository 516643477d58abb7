import type { ChatRequest, Message, Tool } from 'ollama';
import { isJsonObject } from '../json-object.ts';
import { isTooDeep, tooDeep } from '../nesting.ts';
import { AttemptError } from './attempt-error.ts';
import type { ModelMessage, ModelTool } from './models.ts';
import { asOurs, OwnFault } from './own-fault.ts';
import { errorInStream } from './refusal.ts';
import type { ReplyCollector } from './reply-collector.ts';
import type { OpenWire, WireRequest } from './wire.ts';
import { WrittenArguments } from './written-arguments.ts';

/** The chat API of Ollama, on one's own machines. */
export const openOllama: OpenWire = async ({ endpoint, api_key: key }) => {
  const { Ollama } = await import('ollama');
  const headers = key === undefined ? {} : { Authorization: `Bearer ${key.reveal()}` };
  return {
    async ask(request, exchange, reply) {
      const written = new WrittenArguments();
      const client = new Ollama({ host: endpoint ?? '', headers, fetch: written.through(exchange.fetch) });
      const stream = await client.chat(await bodyOf(request, written));
      try {
        for await (const line of stream) asOurs(() => readLine(line, reply));
      } catch (error) {
        // The package's own error for a stream without an end: the collector knows better how far it came.
        if (error instanceof AttemptError || error instanceof OwnFault || exchange.failure !== undefined) throw error;
      }
    },
    /** The package writes lines that it cannot read to the console, and continues. */
    checkLine(line) {
      const value = parsed(line);
      if (!isJsonObject(value)) throw new AttemptError('malformed', 'sent a line that is no JSON object');
      if ('error' in value) throw errorInStream(value, key);
    },
  };
};

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

async function bodyOf(request: WireRequest, written: WrittenArguments): Promise<ChatRequest & { stream: true }> {
  const { tools, outputSchema, contextWindow, maxOutputTokens } = request;
  const messages: Message[] = [];
  for (const message of request.messages) messages.push(await toMessage(message, written));
  return {
    model: request.model,
    messages,
    stream: true,
    options: { num_predict: maxOutputTokens, ...(contextWindow !== undefined && { num_ctx: contextWindow }) },
    ...(tools.length > 0 && { tools: tools.map(toTool) }),
    // A format would keep the model from calling tools.
    ...(tools.length === 0 && outputSchema !== undefined && { format: outputSchema }),
  };
}

const toTool = ({ name, description, input_schema }: ModelTool): Tool => ({
  type: 'function',
  function: { name, description, parameters: { ...input_schema } as Tool['function']['parameters'] },
});

async function toMessage(message: ModelMessage, written: WrittenArguments): Promise<Message> {
  if (message.role === 'tool') return { role: 'tool', content: message.content, tool_name: message.name };
  const calls: NonNullable<Message['tool_calls']> = [];
  for (const call of message.role === 'assistant' ? (message.tool_calls ?? []) : [])
    calls.push({ function: { name: call.name, arguments: await written.mark(call) } });
  return { role: message.role, content: message.content, ...(calls.length > 0 && { tool_calls: calls }) };
}

function readLine(line: unknown, reply: ReplyCollector): void {
  if (!isJsonObject(line)) throw new AttemptError('malformed', 'sent a line that is no JSON object');
  reply.begin();
  reply.model(line.model);
  if (isJsonObject(line.message)) readMessage(line.message, reply);
  if (line.done !== true) return;
  reply.tokens(line.prompt_eval_count, line.eval_count);
  reply.stop(line.done_reason === 'length' ? 'length' : 'end');
}

function readMessage(message: Readonly<Record<string, unknown>>, reply: ReplyCollector): void {
  reply.text(message.content);
  const calls: unknown = message.tool_calls ?? [];
  if (!Array.isArray(calls)) throw new AttemptError('malformed', 'sent tool calls that are no list');
  for (const call of calls as unknown[]) {
    const part = isJsonObject(call) && isJsonObject(call.function) ? call.function : {};
    // Each call comes whole, in a line of its own or together with others.
    reply.call(Symbol('call'), { name: part.name, arguments: argumentsText(part.arguments) });
  }
}

/** An object in this protocol; a text where a server copies another one. */
function argumentsText(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return isTooDeep(value) ? unwritable : JSON.stringify(value);
}

/** In place of arguments that are nested too deep to be written: no object, so that the call is refused to the model. */
const unwritable = JSON.stringify(`an object that ${tooDeep}`);
