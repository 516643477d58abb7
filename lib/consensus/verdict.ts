import { limits } from '../../crds/limits.ts';
import { AppError } from '../errors.ts';
import { fencedBlocks } from '../fenced-block.ts';
import { isJsonObject } from '../json-object.ts';
import { parseJson } from '../work/parse-json.ts';
import { Work, WorkBudgetExceeded } from '../work/work.ts';
import type { JudgeVerdict } from './consensus.ts';
import { wordedScores } from './worded-scores.ts';

/** The verdict of one judge, and the JSON text that holds it, without what the model wrote around it. */
export interface ReadVerdict extends JudgeVerdict {
  readonly reasoning: string;
  readonly text: string;
}

/** A text that is no verdict, and why. */
interface Malformed {
  readonly problem: string;
}

/**
 * The verdict of a judge (WF-PAR-23, requirements AMB-083): a JSON object with `score` and perhaps `confidence` and
 * `reasoning`, alone or in a fenced block. Several that differ are malformed, and so are a score beside them and a number
 * outside 0 to 1, which is never clamped.
 * @throws WorkBudgetExceeded
 */
export function readVerdict(output: string, work: Work = new Work()): ReadVerdict | Malformed {
  if (output.length > limits.judgeOutputLength) {
    return { problem: `its output has ${output.length} characters and a verdict takes ${limits.judgeOutputLength}` };
  }
  const whole = objectIn(output.trim(), work);
  const found = whole === undefined ? fencedVerdicts(output, work) : [whole];
  const [first, ...others] = found.map(readObject);
  if (first === undefined) return { problem: 'its output is no JSON object with a score' };
  // A judge may quote a verdict of what it judges (ADR 0150).
  if (others.some((other) => meaningOf(other) !== meaningOf(first)))
    return { problem: 'its output has several verdicts that differ; a judge states one' };
  // Its own may be in words, or where no block was found.
  if (hasScoreBeside(output, found))
    return { problem: 'its output has a score beside the verdict; a judge states one' };
  if (whole === undefined && 'score' in first && wordedScores(output).some((score) => score !== first.score))
    return { problem: 'its output states another score in words beside the verdict; a judge states one' };
  return first;
}

/** The key in a text within JSON has a backslash before its second quotation mark, so it is none of these. */
const scoreKey = /"score"\s*:/g;

const scoresIn = (text: string): number => text.match(scoreKey)?.length ?? 0;

/** The objects are parts of the output that do not overlap. */
const hasScoreBeside = (output: string, found: readonly Found[]): boolean =>
  scoresIn(output) > found.reduce((sum, { text }) => sum + scoresIn(text), 0);

/** Languages of a block with a verdict. */
const languages = ['', 'json', 'json5', 'jsonc'];

/** The objects in fenced blocks that have a score, or else the first object. */
function fencedVerdicts(output: string, work: Work): Found[] {
  const objects: Found[] = [];
  for (const { language, content } of fencedBlocks(output, true)) {
    const found = languages.includes(language) ? objectIn(content.trim(), work) : undefined;
    if (found !== undefined) objects.push(found);
  }
  const verdicts = objects.filter(({ value }) => value['score'] !== undefined);
  return verdicts.length === 0 ? objects.slice(0, 1) : verdicts;
}

function readObject({ text, value }: Found): ReadVerdict | Malformed {
  const { score, confidence, reasoning } = value;
  if (!isFraction(score)) return { problem: `its score ${shown(score)} is no number from 0 to 1` };
  const isSilent = confidence === undefined || confidence === null;
  if (!isSilent && !isFraction(confidence)) {
    return { problem: `its confidence ${shown(confidence)} is no number from 0 to 1` };
  }
  const own = isSilent ? {} : { confidence };
  return { score, ...own, reasoning: textOf(reasoning), text };
}

/** Equal where two verdicts say the same, however they are written. */
const meaningOf = (read: ReadVerdict | Malformed): string =>
  JSON.stringify('problem' in read ? read : [read.score, read.confidence, read.reasoning]);

const isFraction = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1;

/** Longest part of a wrong value that a message quotes, in characters. */
const quotedLength = 64;

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'that is missing').slice(0, quotedLength);

const textOf = (reasoning: unknown): string => {
  if (reasoning === undefined || reasoning === null) return '';
  return typeof reasoning === 'string' ? reasoning : JSON.stringify(reasoning);
};

interface Found {
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
}

function objectIn(text: string | undefined, work: Work): Found | undefined {
  if (text === undefined || !text.startsWith('{')) return undefined;
  try {
    const value = parseJson(text, work)?.value;
    return isJsonObject(value) ? { text, value } : undefined;
  } catch (error) {
    // Nested too deep is no verdict either; work that is used up is another matter.
    if (error instanceof AppError && !(error instanceof WorkBudgetExceeded)) return undefined;
    throw error;
  }
}
