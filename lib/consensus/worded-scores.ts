import { fencedBlocks } from '../fenced-block.ts';

/** Words between a mention of a score and its number: a few, so that each character is looked at a fixed number of times. */
const between = String.raw`(?:\s{1,4}(?:is|was|of|at|as|it|this|that|the|a|an|be|would|should|will|only|just|submission|answer|work)\b){0,5}`;
/** A number, and its scale. */
const number = String.raw`\s{0,4}[:=]?\s{0,4}[*_"'\x60]{0,3}(\d{1,3}(?:\.\d{1,9})?|\.\d{1,9}|zero\b)[*_"'\x60]{0,3}(?![\w]|\.\d)(?:\s{0,4}(%)|\s{0,4}(?:\/|out of|of)\s{0,4}(\d{1,3}))?`;
/** A mention that names a score by itself, and one that does so only with a number that can be one. */
const mention = String.raw`(?<![\w"'\\\x60])(?:(scored?|verdict|rating|grade)|rated?|give|gave)\b`;

const worded = new RegExp(mention + between + number, 'gi');

/** Scores that a judge states in its words, as `my score is 0.1` or `I rate it 1/10`, outside of all blocks. */
export function wordedScores(output: string): number[] {
  const found: number[] = [];
  for (const [, name, digits = '', percent, scale] of wordsOf(output).matchAll(worded)) {
    const value = digits.toLowerCase() === 'zero' ? 0 : Number(digits);
    const most = percent === undefined ? Number(scale ?? 1) : 100;
    const score = most === 0 ? value : value / most;
    if (name !== undefined || score <= 1) found.push(score);
  }
  return found;
}

function wordsOf(output: string): string {
  const words: string[] = [];
  let from = 0;
  for (const { content } of fencedBlocks(output, true)) {
    const at = output.indexOf(content, from);
    words.push(output.slice(from, at));
    from = at + content.length;
  }
  return [...words, output.slice(from)].join(' ');
}
