import type { Anthropic } from '@anthropic-ai/sdk';
import { isJsonObject } from '../json-object.ts';
import { AttemptError } from './attempt-error.ts';
import type { ModelMessage, ModelTool } from './models.ts';
import { asOurs } from './own-fault.ts';
import { errorInStream } from './refusal.ts';
import type { ReplyCollector } from './reply-collector.ts';
import { type OpenWire, packageTimeoutMs, type WireRequest } from './wire.ts';
import { WrittenArguments } from './written-arguments.ts';

type Json = Readonly<Record<string, unknown>>;
type Message = Anthropic.MessageParam;
type Block = Anthropic.ContentBlockParam;

const defaultEndpoint = 'https://api.anthropic.com';

/** The Messages API. */
export const openAnthropic: OpenWire = async ({ endpoint = defaultEndpoint, api_key: key }) => {
  const { Anthropic } = await import('@anthropic-ai/sdk');
  // Nothing is left to the package's variables, logs and retries.
  const fixed = { apiKey: key?.reveal() ?? '', authToken: null, baseURL: endpoint } as const;
  const quiet = { maxRetries: 0, timeout: packageTimeoutMs, logLevel: 'off' } as const;
  return {
    async ask(request, exchange, reply) {
      const written = new WrittenArguments();
      const client = new Anthropic({ ...fixed, ...quiet, fetch: written.through(exchange.fetch) });
      const stream = await client.messages.create(await bodyOf(request, written), { signal: exchange.signal });
      try {
        for await (const event of stream) asOurs(() => readEvent(event, reply));
      } catch (error) {
        throw isJsonObject(errorIn(error)) ? errorInStream(errorIn(error), key) : error;
      }
    },
  };
};

/** The package puts the error event of a stream under `error`. */
const errorIn = (error: unknown): unknown => (error instanceof Error && 'error' in error ? error.error : undefined);

async function bodyOf(
  { model, messages, tools, maxOutputTokens }: WireRequest,
  written: WrittenArguments,
): Promise<Anthropic.MessageCreateParamsStreaming> {
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  return {
    model,
    max_tokens: maxOutputTokens,
    stream: true,
    messages: await toMessages(messages, written),
    ...(system.length > 0 && { system: system.join('\n\n') }),
    ...(tools.length > 0 && { tools: tools.map(toTool) }),
  };
}

const toTool = ({ name, description, input_schema }: ModelTool): Anthropic.Tool => ({
  name,
  description,
  input_schema: { ...input_schema, type: 'object' },
});

/** Results of tools are blocks of the next message of the user; blocks of one side are in one message. */
async function toMessages(messages: readonly ModelMessage[], written: WrittenArguments): Promise<Message[]> {
  const sides: { role: 'user' | 'assistant'; content: Block[] }[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = sides.at(-1);
    const blocks = await blocksOf(message, written);
    if (last?.role === role) last.content.push(...blocks);
    else sides.push({ role, content: blocks });
  }
  return sides;
}

/** The API takes no empty text. */
const emptyText = '…';

async function blocksOf(message: ModelMessage, written: WrittenArguments): Promise<Block[]> {
  if (message.role === 'tool') {
    return [{ type: 'tool_result', tool_use_id: message.tool_call_id, content: message.content }];
  }
  const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : [];
  const uses: Block[] = [];
  for (const call of calls)
    uses.push({ type: 'tool_use', id: call.id, name: call.name, input: await written.mark(call) });
  if (message.content === '' && uses.length > 0) return uses;
  return [{ type: 'text', text: message.content === '' ? emptyText : message.content }, ...uses];
}

function readEvent(event: unknown, reply: ReplyCollector): void {
  if (!isJsonObject(event)) throw new AttemptError('malformed', 'sent an event that is no object');
  reply.begin();
  const { type } = event;
  if (typeof type === 'string' && Object.hasOwn(readers, type)) readers[type]?.(event, reply);
}

/** Events of other types, such as pings and those that come later, say nothing that an answer needs. */
const readers: Readonly<Record<string, (event: Json, reply: ReplyCollector) => void>> = {
  message_start({ message }, reply) {
    if (!isJsonObject(message)) throw new AttemptError('malformed', 'began an answer without a message');
    reply.model(message.model);
    if (isJsonObject(message.usage)) reply.tokens(inputTokens(message.usage), message.usage.output_tokens);
  },
  content_block_start({ index, content_block: block }, reply) {
    if (!isJsonObject(block)) throw new AttemptError('malformed', 'began a block without its content');
    if (block.type === 'text') reply.text(block.text);
    if (block.type === 'tool_use') reply.call(index, { id: block.id, name: block.name });
  },
  content_block_delta({ index, delta }, reply) {
    if (!isJsonObject(delta)) throw new AttemptError('malformed', 'sent a piece without its content');
    if (delta.type === 'text_delta') reply.text(delta.text);
    if (delta.type === 'input_json_delta') reply.call(index, { arguments: delta.partial_json });
  },
  message_delta({ delta, usage }, reply) {
    if (isJsonObject(usage)) reply.tokens(undefined, usage.output_tokens);
    if (isJsonObject(delta) && typeof delta.stop_reason === 'string') reply.stop(stopOf(delta.stop_reason));
  },
};

/** Tokens that the provider had in its cache are input as well. */
function inputTokens(usage: Json): number | undefined {
  const counts = [usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens];
  const known = counts.filter((count) => typeof count === 'number');
  return known.length === 0 ? undefined : known.reduce((sum, count) => sum + count, 0);
}

function stopOf(reason: string): 'end' | 'tool_calls' | 'length' {
  if (reason === 'refusal') throw new AttemptError('refused', 'withheld the answer');
  if (reason === 'model_context_window_exceeded') {
    throw new AttemptError('context_too_long', 'finds the conversation too long');
  }
  if (reason === 'max_tokens') return 'length';
  return reason === 'tool_use' ? 'tool_calls' : 'end';
}
