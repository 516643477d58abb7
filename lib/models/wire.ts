import type { LlmProvider } from '../node-config/node-config.ts';
import type { Exchange } from './exchange.ts';
import { modelLimits } from './limits.ts';
import type { ModelMessage, ModelTool } from './models.ts';
import type { ReplyCollector } from './reply-collector.ts';

/** One request in the spelling of a provider: tools have names that it takes. */
export interface WireRequest {
  /** As the provider names it. */
  readonly model: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly maxOutputTokens: number;
  readonly contextWindow?: number;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
}

/** Speaks the protocol of one provider: sends a request, and gives the answer to the collector piece by piece. */
export interface Wire {
  ask(request: WireRequest, exchange: Exchange, reply: ReplyCollector): Promise<void>;
  /** Looks at each line of an answer before the package of the provider does. */
  readonly checkLine?: (line: string) => void;
}

/** Beyond our own bound, so that the packages never end a request before us, in words of their own. */
export const packageTimeoutMs = 2 * modelLimits.requestMs;

/** Loads the package of a provider. A process without such a provider never reads it. */
export type OpenWire = (provider: LlmProvider) => Promise<Wire>;
