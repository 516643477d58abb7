import { isJsonObject } from '../json-object.ts';
import { inputProblems } from '../json-schema/input-problems.ts';

/** Numbers that the JSON of an answer gives (requirements AMB-006); a number out of 0 to 1 is not taken (AMB-083). */
interface AnswerFacts {
  readonly score?: number;
  readonly confidence?: number;
}

/** The JSON value of a text: the whole of it, or its one fenced block. Undefined where it is neither. */
export function jsonInText(text: string): unknown {
  const fenced = /^\s*```(?:json)?[ \t]*\r?\n([\s\S]*?)\r?\n?```\s*$/.exec(text);
  try {
    return JSON.parse(fenced?.[1] ?? text) as unknown;
  } catch {
    return undefined;
  }
}

export function answerFacts(text: string): AnswerFacts {
  const value = jsonInText(text);
  if (!isJsonObject(value)) return {};
  const { score, confidence } = value;
  return {
    ...(isFraction(score) ? { score } : {}),
    ...(isFraction(confidence) ? { confidence } : {}),
  };
}

export const isFraction = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1;

/** Problems that feedback names at most. */
const problemsNamed = 5;

/** Why an answer breaks the schema of its agent, in words for the agent; undefined where it does not. */
export function schemaProblem(schema: unknown, text: string): string | undefined {
  if (schema === undefined) return undefined;
  const value = jsonInText(text);
  if (value === undefined) return 'It must be one JSON value that fits output_schema, and nothing else.';
  const problems = inputProblems(schema, value, problemsNamed);
  if (problems.length === 0) return undefined;
  return `It does not fit output_schema: ${problems.map(({ path, message }) => `${path.replace(/^input/, 'answer')} ${message}`).join('; ')}`;
}
