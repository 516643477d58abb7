import type { Json } from '../../crds/schema/parts.ts';

/** What the simulation asks of whoever drives it. */
export type Question =
  | {
      readonly kind: 'command';
      readonly state: string;
      readonly step?: string | undefined;
      readonly visit: number;
      readonly attempt: number;
    }
  | {
      readonly kind: 'person';
      readonly state: string;
      readonly visit: number;
      /** Responses that match a rule of the state, as far as its rules name them. */
      readonly responses: readonly string[];
      /** Without an answer, `default_response` or the timeout ends the state. */
      readonly hasTimeout: boolean;
    }
  | { readonly kind: 'child'; readonly state: string; readonly visit: number; readonly workflow: string };

/** What became of one visit. Fields that do not belong to the state's kind are refused when the answers are read. */
export interface Answer {
  /** Of a command. Default 0. */
  readonly exit_code?: number;
  readonly stdout?: string;
  readonly stderr?: string;
  /** Of a person. */
  readonly response?: string;
  /** Of a child. Default `completed`. */
  readonly status?: 'completed' | 'failed' | 'cancelled';
  /** Final output of a child. Default null. */
  readonly result?: Json;
}

/** Undefined: nothing is known, and the defaults hold; a person gives no answer. */
export type AnswerTo = (question: Question) => Answer | undefined;

/** The key under which answers to a question are given: the state, or `STATE/STEP`. */
export const keyOf = (question: Question): string =>
  question.kind === 'command' && question.step !== undefined ? `${question.state}/${question.step}` : question.state;
