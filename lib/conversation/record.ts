import type { AgentResult } from '../../crds/schema/agent-execution.ts';
import type { ModelToolCall } from '../models/models.ts';

/** Tokens and cost of a reply. */
export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd?: number;
}

/** Tokens and cost of a judge. `judge` is the uid of its execution, where it is an agent: what that took counts once. */
interface JudgeUsage extends Usage {
  readonly judge?: string;
}

/**
 * One entry of a conversation: the append-only log of one AgentExecution in JetStream (design §12). `at` is RFC 3339.
 * Entries come in pairs, one before an effect and one after it.
 */
export type ConversationRecord = { readonly at: string } & (
  | {
      readonly kind: 'started';
      readonly agent_id: string;
      readonly agent: string;
      readonly version: string;
      readonly system: string;
      readonly input: string;
      readonly model: string;
    }
  /**
   * A replica takes the conversation over from one that is gone, or anew after an interruption; once for each replica until
   * another record follows.
   */
  | { readonly kind: 'taken_over'; readonly by: string }
  | {
      readonly kind: 'iteration_started';
      readonly iteration: number;
      readonly action: string;
      readonly feedback?: string;
    }
  | { readonly kind: 'model_asked'; readonly iteration: number; readonly call: number }
  | {
      readonly kind: 'model_replied';
      readonly content: string;
      readonly tool_calls: readonly ModelToolCall[];
      readonly stop: 'end' | 'tool_calls' | 'length';
      /** The text or a call was longer than is kept. */
      readonly cut?: boolean;
      /** Exchanges that the model was not sent, since they do not fit into its context. */
      readonly left_out?: number;
      /** Why nothing of the context is left for the conversation, and how to mend it. */
      readonly no_room?: string;
      readonly provider: string;
      readonly model: string;
      readonly input_tokens: number;
      readonly output_tokens: number;
      readonly cost_usd?: number;
    }
  /** Tokens of a judge, which count like those of the agent. */
  | ({ readonly kind: 'judge_replied' } & JudgeUsage)
  | { readonly kind: 'call_judged'; readonly call_id: string; readonly allowed: boolean; readonly reason: string }
  /** The call waits for a person until then (ADR 0082). */
  | {
      readonly kind: 'approval_asked';
      readonly call_id: string;
      readonly request_id: string;
      readonly tool: string;
      readonly until: string;
    }
  /** How that ended. `by`, `via` and `feedback` are those of the answer; without `by` no answer came in time. */
  | {
      readonly kind: 'approval_given';
      readonly call_id: string;
      readonly request_id: string;
      readonly approved: boolean;
      readonly by?: string;
      readonly via?: string;
      readonly feedback?: string;
    }
  | { readonly kind: 'tool_started'; readonly call_id: string; readonly tool: string; readonly arguments: unknown }
  /** The pod with this uid was given the command of a call. */
  | { readonly kind: 'dispatched'; readonly call_id: string; readonly dispatch_id: string; readonly pod_uid: string }
  /** `ran`: false where the call was refused before anything ran. `result_hash`: SHA-256 of the pod's result. */
  | {
      readonly kind: 'tool_ended';
      readonly call_id: string;
      readonly tool: string;
      readonly content: string;
      readonly is_error: boolean;
      readonly ran: boolean;
      readonly dispatch_id?: string;
      readonly result_hash?: string;
    }
  /** Texts of a `generate` request, for the next question to the model. `key` is of what was asked: the same comes again. */
  | { readonly kind: 'pod_said'; readonly key: string; readonly iteration: number; readonly texts: readonly string[] }
  /** A signed call of a tool that runs in the pod (spec 3 §5.2); the model does not see it. `at` is when it was taken. */
  | { readonly kind: 'signed_call'; readonly call_id: string; readonly tool: string; readonly arguments: unknown }
  | {
      readonly kind: 'signed_ended';
      readonly call_id: string;
      readonly tool: string;
      readonly content: string;
      readonly is_error: boolean;
      readonly dispatch_id?: string;
      readonly result_hash?: string;
    }
  /** With the tokens of the judge where they are those of its execution, which a replica that repeats this finds again. */
  | ({
      readonly kind: 'iteration_judged';
      readonly iteration: number;
      readonly score: number;
      readonly feedback: string;
    } & Partial<JudgeUsage>)
  | {
      readonly kind: 'iteration_completed';
      readonly iteration: number;
      readonly output: string;
      readonly accepted: boolean;
      readonly score?: number;
      /** Why it was not accepted. */
      readonly feedback?: string;
    }
  | { readonly kind: 'ended'; readonly result: AgentResult }
);

/** The name of the logs. Their key is the uid of the AgentExecution. */
export const conversationStream = 'conversations';

/** How long conversations are kept, and how many bytes of all tenants; a tenant's oldest records go first (ADR 0085). */
export const conversationLogs = {
  name: conversationStream,
  retention: { maxAgeMs: 7 * 24 * 3_600_000, maxBytes: 1024 * 1024 * 1024 },
} as const;
