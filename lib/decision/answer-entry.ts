import type { Signal } from '../../crds/schema/workflow-execution.ts';

/** Text of `{{human.feedback}}` after a signal (requirements WF-HUMAN-05). */
export const feedbackOf = ({ response, feedback }: Pick<Signal, 'response' | 'feedback'>): string =>
  feedback ?? response;

/** The Blackboard entry of a Human state's answer, under the state's name (requirements AMB-162). */
export function answerEntry(signal: Pick<Signal, 'response' | 'feedback' | 'by' | 'at'>): Record<string, unknown> {
  const { response, by, at } = signal;
  return { status: 'success', output: response, response, feedback: feedbackOf(signal), by, at };
}
