import type { Answer } from './model-server.ts';

/** A tool call of an answer; `name` is in the spelling of the provider. */
interface SpokenCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/** A model's message, independent of its protocol. */
interface Speech {
  readonly pieces?: readonly string[];
  readonly calls?: readonly SpokenCall[];
  readonly input?: number;
  readonly output?: number;
  readonly isCut?: boolean;
}

/** The streaming protocol of one type of provider, as its own documentation has it. */
export interface Dialect {
  readonly type: 'openai' | 'anthropic' | 'ollama';
  /** Path of the endpoint that the address ends in. */
  readonly base: string;
  readonly path: string;
  readonly contentType: string;
  /** Events of the stream, one text each, in order. */
  events(speech: Speech): readonly string[];
  /** Text of an error that comes after the stream has begun. */
  error(type: string, message: string): string;
  /** An event that is no JSON. */
  readonly garbage: string;
}

const sse = (data: unknown, event?: string): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

const halves = (text: string): string[] => [
  text.slice(0, Math.ceil(text.length / 2)),
  text.slice(Math.ceil(text.length / 2)),
];

const chunk = (choices: readonly object[], usage?: object): string =>
  sse({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'served-1', choices, usage });

const openai: Dialect = {
  type: 'openai',
  base: '/v1',
  path: '/v1/chat/completions',
  contentType: 'text/event-stream',
  events({ pieces = [], calls = [], input, output = 0, isCut = false }) {
    const delta = (fields: object): string => chunk([{ index: 0, delta: fields, finish_reason: null }]);
    const finish = isCut ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop';
    return [
      delta({ role: 'assistant', content: '' }),
      ...pieces.map((content) => delta({ content })),
      ...calls.flatMap(({ id, name, arguments: text }, index) => [
        delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
        ...halves(text).map((part) => delta({ tool_calls: [{ index, function: { arguments: part } }] })),
      ]),
      chunk([{ index: 0, delta: {}, finish_reason: finish }]),
      ...(input === undefined ? [] : [chunk([], { prompt_tokens: input, completion_tokens: output })]),
      sse('[DONE]'),
    ];
  },
  error: (type, message) => sse({ error: { type, message, code: null } }),
  garbage: sse('{"choices": [{'),
};

const named = (type: string, fields: object = {}): string => sse({ type, ...fields }, type);

const anthropic: Dialect = {
  type: 'anthropic',
  base: '',
  path: '/v1/messages',
  contentType: 'text/event-stream',
  events({ pieces = [], calls = [], input, output = 0, isCut = false }) {
    const usage = input === undefined ? {} : { usage: { input_tokens: input, output_tokens: 1 } };
    const first = pieces.length > 0 ? 1 : 0;
    const reason = isCut ? 'max_tokens' : calls.length > 0 ? 'tool_use' : 'end_turn';
    const text = pieces.map((part) =>
      named('content_block_delta', { index: 0, delta: { type: 'text_delta', text: part } }),
    );
    return [
      named('message_start', { message: { id: 'm', type: 'message', role: 'assistant', model: 'served-1', ...usage } }),
      ...(first === 0 ? [] : [named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })]),
      named('ping'),
      ...text,
      ...(first === 0 ? [] : [named('content_block_stop', { index: 0 })]),
      ...calls.flatMap(({ id, name, arguments: written }, at) => [
        named('content_block_start', { index: first + at, content_block: { type: 'tool_use', id, name, input: {} } }),
        ...halves(written).map((partial_json) =>
          named('content_block_delta', { index: first + at, delta: { type: 'input_json_delta', partial_json } }),
        ),
        named('content_block_stop', { index: first + at }),
      ]),
      named('message_delta', {
        delta: { stop_reason: reason, stop_sequence: null },
        ...(input === undefined ? {} : { usage: { output_tokens: output } }),
      }),
      named('message_stop'),
    ];
  },
  error: (type, message) => named('error', { error: { type, message } }),
  garbage: sse('{"type": "content_', 'content_block_delta'),
};

const line = (fields: object): string => `${JSON.stringify({ model: 'served-1', created_at: 'now', ...fields })}\n`;

const ollama: Dialect = {
  type: 'ollama',
  base: '',
  path: '/api/chat',
  contentType: 'application/x-ndjson',
  events({ pieces = [], calls = [], input, output = 0, isCut = false }) {
    const counts = input === undefined ? {} : { prompt_eval_count: input, eval_count: output };
    const says = (message: object): string => line({ message: { role: 'assistant', ...message }, done: false });
    return [
      ...pieces.map((content) => says({ content })),
      ...calls.map(({ name, arguments: text }) =>
        says({ content: '', tool_calls: [{ function: { name, arguments: JSON.parse(text) as unknown } }] }),
      ),
      line({
        message: { role: 'assistant', content: '' },
        done: true,
        done_reason: isCut ? 'length' : 'stop',
        ...counts,
      }),
    ];
  },
  error: (type, message) => `${JSON.stringify({ error: `${type}: ${message}` })}\n`,
  garbage: '{"message": {\n',
};

export const dialects: readonly Dialect[] = [openai, anthropic, ollama];

/** The whole answer, streamed. */
export const say =
  (dialect: Dialect, speech: Speech): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': dialect.contentType });
    for (const event of dialect.events(speech)) response.write(event);
    response.end();
  };

/** The events of an answer up to its first text, then whatever `end` does to the connection. */
export const begin =
  (dialect: Dialect, speech: Speech, end: Answer): Answer =>
  (response, request) => {
    response.writeHead(200, { 'content-type': dialect.contentType });
    const text = dialect
      .events(speech)
      .slice(0, dialect.type === 'anthropic' ? 4 : 2)
      .join('');
    response.write(text, () => end(response, request));
  };
