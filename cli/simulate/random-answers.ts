import type { WorkflowSpec } from '../../crds/schema/workflow.ts';
import type { Answer, AnswerTo, Question } from './answer.ts';

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

/**
 * Answers drawn at random from those that the definition tells apart: exit codes and responses that its rules name, an
 * answer that comes too late where the state has a timeout, children that complete or fail. `given` goes first.
 */
export function randomAnswers(spec: WorkflowSpec, random: () => number, given: AnswerTo): AnswerTo {
  const codes = exitCodesOf(spec);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const draw = (question: Question): Answer | undefined => {
    switch (question.kind) {
      case 'command':
        return { exit_code: random() < 0.6 ? 0 : pick(codes), stdout: pick(outputs) };
      case 'child':
        return { status: random() < 0.7 ? 'completed' : 'failed' };
      case 'person': {
        if (question.hasTimeout && random() < 0.2) return undefined;
        return { response: question.responses.length === 0 ? 'approved' : pick(question.responses) };
      }
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
