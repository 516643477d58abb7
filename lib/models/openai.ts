import type { OpenAI } from 'openai';
import { isJsonObject } from '../json-object.ts';
import type { LlmProvider } from '../node-config/node-config.ts';
import { withoutTrailingSlashes } from '../trailing-slashes.ts';
import { AttemptError } from './attempt-error.ts';
import type { Exchange } from './exchange.ts';
import type { ModelMessage, ModelTool } from './models.ts';
import { asOurs } from './own-fault.ts';
import { errorInStream } from './refusal.ts';
import type { ReplyCollector } from './reply-collector.ts';
import { type OpenWire, packageTimeoutMs, type WireRequest } from './wire.ts';

type Message = OpenAI.ChatCompletionMessageParam;
type Body = OpenAI.ChatCompletionCreateParamsStreaming;

const defaultEndpoint = 'https://api.openai.com/v1';

/** Any server that speaks OpenAI's chat completions, and deployments hosted under an address with `api_version`. */
export const openOpenAi: OpenWire = async (provider) => {
  const createClient = await clientsOf(provider);
  return {
    async ask(request, exchange, reply) {
      const stream = await createClient(exchange).chat.completions.create(bodyOf(provider, request), {
        signal: exchange.signal,
      });
      try {
        for await (const chunk of stream) asOurs(() => readChunk(chunk, reply));
      } catch (error) {
        throw isJsonObject(errorIn(error)) ? errorInStream(errorIn(error), provider.api_key) : error;
      }
    },
  };
};

/** The package puts the error object of a stream under `error`. */
const errorIn = (error: unknown): unknown => (error instanceof Error && 'error' in error ? error.error : undefined);

/** Nothing is left to the package's variables, logs and retries. */
async function clientsOf(provider: LlmProvider): Promise<(exchange: Exchange) => OpenAI> {
  const { OpenAI, AzureOpenAI } = await import('openai');
  const { endpoint = defaultEndpoint, api_version: apiVersion } = provider;
  const apiKey = provider.api_key?.reveal() ?? 'none';
  const quiet = { maxRetries: 0, timeout: packageTimeoutMs, logLevel: 'off' } as const;
  const fixed = { ...quiet, apiKey, organization: null, project: null };
  if (apiVersion === undefined) {
    return ({ fetch }) => new OpenAI({ ...fixed, baseURL: endpoint, adminAPIKey: null, fetch });
  }
  const baseURL = `${withoutTrailingSlashes(endpoint)}/openai`;
  return ({ fetch }) => new AzureOpenAI({ ...fixed, apiVersion, baseURL, fetch });
}

function bodyOf(provider: LlmProvider, request: WireRequest): Body {
  const { outputSchema: schema, maxOutputTokens } = request;
  const isOpenAi = provider.endpoint === undefined || provider.api_version !== undefined;
  return {
    model: request.model,
    messages: request.messages.map(toMessage),
    stream: true,
    stream_options: { include_usage: true },
    // OpenAI's newer models refuse the older name, and most other servers know it alone.
    ...(isOpenAi ? { max_completion_tokens: maxOutputTokens } : { max_tokens: maxOutputTokens }),
    ...(request.tools.length > 0 && { tools: request.tools.map(toTool) }),
    ...(schema !== undefined && {
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { ...schema }, strict: false } },
    }),
  };
}

const toTool = ({ name, description, input_schema }: ModelTool): OpenAI.ChatCompletionTool => ({
  type: 'function',
  function: { name, description, parameters: { ...input_schema } },
});

function toMessage(message: ModelMessage): Message {
  if (message.role === 'tool') {
    return { role: 'tool', tool_call_id: message.tool_call_id, content: message.content };
  }
  if (message.role !== 'assistant') return { role: message.role, content: message.content };
  const calls = message.tool_calls ?? [];
  if (calls.length === 0) return { role: 'assistant', content: message.content };
  return {
    role: 'assistant',
    content: message.content === '' ? null : message.content,
    tool_calls: calls.map(({ id, name, arguments: text }) => ({
      id,
      type: 'function',
      function: { name, arguments: text },
    })),
  };
}

function readChunk(chunk: unknown, reply: ReplyCollector): void {
  if (!isJsonObject(chunk)) throw new AttemptError('malformed', 'sent an event that is no object');
  reply.begin();
  reply.model(chunk.model);
  if (isJsonObject(chunk.usage)) reply.tokens(chunk.usage.prompt_tokens, chunk.usage.completion_tokens);
  const choice: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
  if (!isJsonObject(choice)) return;
  if (isJsonObject(choice.delta)) readDelta(choice.delta, reply);
  if (typeof choice.finish_reason === 'string') reply.stop(stopOf(choice.finish_reason));
}

function readDelta(delta: Readonly<Record<string, unknown>>, reply: ReplyCollector): void {
  reply.text(delta.content);
  reply.text(delta.refusal);
  const calls: unknown = delta.tool_calls ?? [];
  if (!Array.isArray(calls)) throw new AttemptError('malformed', 'sent tool calls that are no list');
  for (const [position, call] of (calls as unknown[]).entries()) {
    if (!isJsonObject(call)) throw new AttemptError('malformed', 'sent a tool call that is no object');
    const part = isJsonObject(call.function) ? call.function : {};
    // Some servers number nothing, and send each call whole.
    reply.call(call.index ?? call.id ?? position, { id: call.id, name: part.name, arguments: part.arguments });
  }
}

function stopOf(reason: string): 'end' | 'tool_calls' | 'length' {
  if (reason === 'content_filter') throw new AttemptError('refused', 'withheld the answer with its content filter');
  if (reason === 'length') return 'length';
  return reason === 'tool_calls' || reason === 'function_call' ? 'tool_calls' : 'end';
}
