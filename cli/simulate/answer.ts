import type { Json } from '../../crds/schema/parts.ts';

/** A question of the simulation to its driver. */
export type SimulatedQuestion =
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
  | {
      readonly kind: 'agent';
      readonly state: string;
      readonly visit: number;
      readonly agent: string;
      /** Its place among the judges of a ParallelAgents state. */
      readonly judge?: number | undefined;
    }
  | { readonly kind: 'child'; readonly state: string; readonly visit: number; readonly workflow: string };

/** Outcome of one visit. Fields that do not belong to the state's kind are refused when the answers are read. */
export interface SimulatedAnswer {
  /** Exit code of a command. Default 0. */
  readonly exit_code?: number;
  readonly stdout?: string;
  readonly stderr?: string;
  /** Response of a person. */
  readonly response?: string;
  /** Status of a child or an agent. Default `completed`. */
  readonly status?: 'completed' | 'failed' | 'cancelled';
  /** Final output of a child. Default null. */
  readonly result?: Json;
  /** Final text of an agent. Default of a judge: a verdict with its score, confidence and reasoning. */
  readonly output?: string;
  /** Score of an agent; by default 1 for a judge. */
  readonly score?: number;
  readonly confidence?: number;
  readonly reasoning?: string;
}

/** Undefined: nothing is known, and the defaults hold; a person gives no answer. */
export type AnswerTo = (question: SimulatedQuestion) => SimulatedAnswer | undefined;

/** The key under which answers to a question are given: the state, `STATE/STEP`, or `STATE/N` of judge N. */
export function questionKey(question: SimulatedQuestion): string {
  const part = partOf(question);
  return part === undefined ? question.state : `${question.state}/${part}`;
}

function partOf(question: SimulatedQuestion): string | number | undefined {
  if (question.kind === 'command') return question.step;
  return question.kind === 'agent' ? question.judge : undefined;
}
