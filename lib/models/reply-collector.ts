import { AttemptError } from './attempt-error.ts';
import { modelLimits } from './limits.ts';
import type { ModelReply, ModelToolCall } from './models.ts';

/** The content of an answer, before its price is known. Names of tools are those of the provider. */
export type WireReply = Pick<ModelReply, 'content' | 'tool_calls' | 'stop'> & {
  /** As the provider names it. */
  readonly model?: string;
  /** Absent where the provider does not count. */
  readonly input_tokens?: number;
  readonly output_tokens?: number;
};

/** A piece of a tool call, as a stream brings it. */
interface CallPart {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly arguments?: unknown;
}

/** Puts the pieces of a streamed answer together, within bounds. Nothing that it takes is trusted to have its type. */
export interface ReplyCollector {
  text(piece: unknown): void;
  /** A piece of the call with this key, which is an index or an id of the stream. */
  call(key: unknown, part: CallPart): void;
  stop(reason: WireReply['stop']): void;
  model(name: unknown): void;
  tokens(input: unknown, output: unknown): void;
  /** Something came that belongs to an answer. */
  begin(): void;
  /** @throws AttemptError where the stream ended before the answer did. */
  finish(): WireReply;
}

interface OpenCall {
  id: string;
  name: string;
  arguments: string;
}

const malformed = (message: string): AttemptError => new AttemptError('malformed', message);

interface CollectorOptions {
  readonly onText?: (text: string) => void;
  /** Begins the ids of calls for which the provider gives none. */
  readonly idPrefix: string;
}

export function createReplyCollector(options: CollectorOptions): ReplyCollector {
  return new BoundedCollector(options);
}

class BoundedCollector implements ReplyCollector {
  readonly #options: CollectorOptions;
  readonly #calls = new Map<unknown, OpenCall>();
  readonly #counts: { input?: number; output?: number } = {};
  #content = '';
  #argumentsLength = 0;
  #stop: WireReply['stop'] | undefined;
  #model: string | undefined;
  #hasBegun = false;

  constructor(options: CollectorOptions) {
    this.#options = options;
  }

  begin(): void {
    this.#hasBegun = true;
  }

  text(piece: unknown): void {
    if (piece === undefined || piece === null || piece === '') return;
    if (typeof piece !== 'string') throw malformed('sent content that is no text');
    if (this.#content.length + piece.length > modelLimits.contentLength) {
      throw malformed(`sent content of more than ${modelLimits.contentLength} characters`);
    }
    this.#content += piece;
    this.#options.onText?.(piece);
  }

  call(key: unknown, part: CallPart): void {
    const call = this.#calls.get(key) ?? this.#open(key);
    if (typeof part.id === 'string' && call.id === '') call.id = part.id;
    if (typeof part.name === 'string' && call.name === '') call.name = part.name;
    const text = part.arguments ?? '';
    if (typeof text !== 'string') throw malformed('sent arguments of a tool call that are no text');
    this.#argumentsLength += text.length;
    const isTooLong = call.arguments.length + text.length > modelLimits.argumentsLength;
    if (isTooLong || this.#argumentsLength > modelLimits.allArgumentsLength) {
      throw malformed(`sent a tool call with more than ${modelLimits.argumentsLength} characters of arguments`);
    }
    call.arguments += text;
  }

  #open(key: unknown): OpenCall {
    if (this.#calls.size >= modelLimits.toolCalls) {
      throw malformed(`sent more than ${modelLimits.toolCalls} tool calls`);
    }
    const call = { id: '', name: '', arguments: '' };
    this.#calls.set(key, call);
    return call;
  }

  stop(reason: WireReply['stop']): void {
    this.#stop = reason;
  }

  model(name: unknown): void {
    if (typeof name === 'string' && name !== '' && name.length <= modelLimits.modelNameLength) this.#model = name;
  }

  tokens(input: unknown, output: unknown): void {
    if (isCount(input)) this.#counts.input = input;
    if (isCount(output)) this.#counts.output = output;
  }

  finish(): WireReply {
    if (this.#stop === undefined) {
      if (this.#hasBegun) throw new AttemptError('unavailable', 'ended its answer before its end');
      throw malformed('sent a stream without an answer');
    }
    const calls = this.#finishedCalls();
    const stop = this.#stop === 'length' ? 'length' : calls.length > 0 ? 'tool_calls' : 'end';
    return {
      content: this.#content,
      tool_calls: calls,
      stop,
      model: this.#model,
      input_tokens: this.#counts.input,
      output_tokens: this.#counts.output,
    };
  }

  /** A result names its call by id, so ids are there and differ. */
  #finishedCalls(): ModelToolCall[] {
    const taken = new Set<string>();
    return [...this.#calls.values()].map((call, index) => {
      if (call.name === '' || call.name.length > 256) throw malformed('sent a tool call without a usable name');
      const isUsable = call.id !== '' && call.id.length <= 256 && !taken.has(call.id);
      const id = isUsable ? call.id : `${this.#options.idPrefix}${index}`;
      taken.add(id);
      return { id, name: call.name, arguments: call.arguments === '' ? '{}' : call.arguments };
    });
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
