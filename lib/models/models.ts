import type { ModelPrice } from '../node-config/node-config.ts';

/** One message of a conversation with a model. */
export type ModelMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly tool_calls?: readonly ModelToolCall[] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly name: string; readonly content: string };

/** A tool call as the model wrote it. */
export interface ModelToolCall {
  readonly id: string;
  /** Name of the tool in our own spelling, such as `fs.read`, even where the provider refuses dots. */
  readonly name: string;
  /** JSON text; a model may write text that is no JSON. */
  readonly arguments: string;
}

/** A tool that the model may call. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly input_schema: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  /** Model alias (spec 1 §2.7). */
  readonly alias: string;
  /** Field of the agent that names the alias, for messages; absent: `spec.runtime.model`. */
  readonly field?: string;
  /** Provider that served this execution before; it is kept (requirements LLM-19, AMB-090). */
  readonly provider?: string;
  /** Whose turn and whose account it is. */
  readonly tenant: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** Most tokens of the answer; the model's own limit also applies. */
  readonly maxOutputTokens?: number;
  /** JSON Schema of the answer, where the provider can hold the model to one. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  /**
   * Milliseconds that the answer may take, with all attempts and the pauses between them. They count from the moment a provider
   * gives the request its turn: the wait for the turn is bounded by `signal`, and by a bound of its own. Absent: each attempt has
   * the longest time of a request.
   */
  readonly withinMs?: number;
  readonly signal: AbortSignal;
  /** Called with each piece of text as it comes. */
  readonly onText?: (text: string) => void;
  /** Called when the request begins to wait for a provider. The wait is over when the result is disposed of. */
  readonly onWait?: (wait: ProviderWait) => Disposable;
}

/** A request waits for its turn at a provider, or before it is sent again. */
export interface ProviderWait {
  readonly provider: string;
  /** Whether it waits because the provider failed, at the moment in which this is asked. */
  readonly isResting: () => boolean;
}

export interface ModelReply {
  readonly content: string;
  readonly tool_calls: readonly ModelToolCall[];
  /** `length`: the model stopped at the most tokens of the answer. */
  readonly stop: 'end' | 'tool_calls' | 'length';
  readonly provider: string;
  /** As the provider names it. */
  readonly model: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** By `spec.prices`; absent: no price is known. */
  readonly cost_usd?: number;
}

/** Why a model did not answer. `UnknownAlias` and `ProviderGone` name the alias or the provider in the message. */
export type ModelFailure =
  | 'UnknownAlias'
  | 'ProviderGone'
  | 'ProviderUnavailable'
  | 'ProviderRefused'
  | 'MalformedReply'
  | 'ContextTooLong';

/** A model that did not answer, after all retries of `llm_selection`. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly failure: ModelFailure;

  constructor(failure: ModelFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

/** Bounds of the answers of an alias. Where several models may answer, those that hold for each of them. */
export interface ModelLimits {
  /** In tokens. */
  readonly contextWindow?: number;
  readonly maxOutputTokens: number;
  /** The dearest; absent where no model has one. */
  readonly price?: ModelPrice;
  /** A model that may answer and has no price. */
  readonly unpriced?: string;
}

/** Every model of the node configuration (spec 1 §2.7). Provider calls are made by the orchestrator alone (LLM-18). */
export interface Models {
  /** @throws ModelError; `TimeoutError` where `withinMs` is over; the reason of the signal where it aborts. */
  ask(request: ModelRequest): Promise<ModelReply>;
  /** Limits of an alias with a provider; undefined where the alias is not defined. */
  limitsOf(alias: string, provider?: string): ModelLimits | undefined;
}
