import type { WorkflowSpec } from '../../crds/schema/workflow.ts';
import type { SimulatedAnswer, AnswerTo, SimulatedQuestion } from './answer.ts';

/** Numbers in [0, 1) that follow from a seed (mulberry32), so that a run can be repeated. */
export function seeded(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const outputs = ['', 'ok', 'true', 'false', '0', '1', '{"ok":true}', 'a\nb\n'];

/** On either side of most thresholds, and on the default one. */
const scores = [0, 0.25, 0.5, 0.69, 0.7, 0.75, 0.9, 1];

/**
 * Answers drawn at random from those that the definition distinguishes. They are exit codes and responses that its
 * rules name, scores, and children and agents that complete or fail. Where a state has a timeout, an answer may come
 * too late. `given` has priority.
 */
export function randomAnswers(spec: WorkflowSpec, random: () => number, given: AnswerTo): AnswerTo {
  const codes = exitCodesOf(spec);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const responseTo = ({ responses }: Extract<SimulatedQuestion, { kind: 'person' }>): string =>
    responses.length === 0 ? 'approved' : pick(responses);
  const draw = (question: SimulatedQuestion): SimulatedAnswer | undefined => {
    switch (question.kind) {
      case 'command':
        return { exit_code: random() < 0.6 ? 0 : pick(codes), stdout: pick(outputs) };
      case 'child':
        return { status: random() < 0.7 ? 'completed' : 'failed' };
      case 'agent':
        return { status: random() < 0.8 ? 'completed' : 'failed', score: pick(scores), confidence: pick(scores) };
      case 'person':
        return question.hasTimeout && random() < 0.2 ? undefined : { response: responseTo(question) };
    }
  };
  return (question) => given(question) ?? draw(question);
}

/** Exit codes that rules name, and one that none does. */
function exitCodesOf({ states }: WorkflowSpec): number[] {
  const named = Object.values(states).flatMap(({ transitions }) =>
    transitions.flatMap(({ condition, value }) => (condition === 'exit_code' ? [Number(value)] : [])),
  );
  return [...new Set([...named.filter((code) => code > 0 && code <= 255), 1, 77])];
}
