import { describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import { growthOf, proportional } from '../../test/support/processor-time.ts';
import { WorkBudgetExceeded, Work } from '../work/work.ts';
import { readVerdict } from './verdict.ts';

const problemOf = (output: string): string | undefined => {
  const read = readVerdict(output);
  return 'problem' in read ? read.problem : undefined;
};

describe('the verdict of a judge', () => {
  it('WF-PAR-23 is a JSON object with score, confidence and reasoning', () => {
    const text = '{"score": 0.8, "confidence": 0.5, "reasoning": "clear"}';
    expect(readVerdict(text)).toEqual({ score: 0.8, confidence: 0.5, reasoning: 'clear', text });
  });

  it('WF-PAR-23 may leave out confidence and reasoning', () => {
    expect(readVerdict(' {"score": 1} ')).toEqual({ score: 1, reasoning: '', text: '{"score": 1}' });
    expect(readVerdict('{"score": 1, "confidence": null, "reasoning": null}')).toMatchObject({ reasoning: '' });
  });

  it('keeps a reasoning that is no text as JSON', () => {
    expect(readVerdict('{"score": 1, "reasoning": ["a", "b"]}')).toMatchObject({ reasoning: '["a","b"]' });
  });

  it.each([
    ['with the language json', 'Here it is:\n```json\n{"score": 0.5}\n```\nDone.'],
    ['without a language', '```\n{"score": 0.5}\n```'],
    ['behind a block of another language', '```ts\nconst a = 1;\n```\n```JSON\n{"score": 0.5}\n```'],
    ['behind a log without a language', '```\n{"lines": 3}\n```\n```\nok\n```\n```json\n{"score": 0.5}\n```'],
    ['behind a quoted fence', 'Use ``` to quote.\n```json\n{"score": 0.5}\n```'],
    ['of four backticks', '````json\n{"score": 0.5}\n````'],
    ['that ends in the middle of a line', '```json\n{"score": 0.5}```\nDone.'],
    ['twice', '```json\n{"score": 0.5}\n```\nAs I said:\n```json\n{ "score": 0.50 }\n```'],
    ['on Windows', '```json\r\n{"score": 0.5}\r\n```'],
    ['behind words', 'Verdict: ```json\n{"score": 0.5}\n```'],
    ['behind words, without a language', 'Verdict of `a.ts`: ```\n{"score": 0.5}\n```\nDone.'],
    ['of a list', '- ```json\n  {"score": 0.5}\n  ```'],
    ['behind words that end with a fence', 'Quote with ```\n```json\n{"score": 0.5}\n```'],
    ['with a language and more', '```json title="verdict"\n{"score": 0.5}\n```'],
    ['of JSON5', '```json5\n{"score": 0.5}\n```'],
    ['of tildes', '~~~json\n{"score": 0.5}\n~~~'],
    ['that ends with a longer fence, three blanks deeper', '```json\n{"score": 0.5}\n   `````'],
  ])('AMB-083 may be in a fenced block %s', (_name, output) => {
    expect(readVerdict(output)).toMatchObject({ score: 0.5, text: '{"score": 0.5}' });
  });

  it('AMB-083 may have three backticks in its reasoning', () => {
    const text = '{"score":0.8,"reasoning":"wrap it in ```sh"}';
    const want = { score: 0.8, reasoning: 'wrap it in ```sh', text };
    expect(readVerdict(`Here:\n\`\`\`json\n${text}\n\`\`\`\nDone.`)).toEqual(want);
    expect(readVerdict(text)).toEqual(want);
  });

  it.each([
    ['their score', '{"score":1}', '{"score":0.1}'],
    ['their confidence', '{"score":1}', '{"score":1,"confidence":0.5}'],
    ['their reasoning', '{"score":1,"reasoning":"a"}', '{"score":1,"reasoning":"b"}'],
    ['that one has no valid score', '{"score":1}', '{"score":95}'],
  ])('AMB-083 stated several times is malformed where they differ in %s', (_how, quoted, own) => {
    const output = `The submission says\n\`\`\`json\n${quoted}\n\`\`\`\nwhich is wrong.\n\`\`\`json\n${own}\n\`\`\``;
    expect(problemOf(output)).toBe('its output has several verdicts that differ; a judge states one');
  });

  const quoted = '```json\n{"score": 1}\n```\n';

  it.each([
    [
      'after an odd number of fences',
      `The answer:\n\`\`\`\nx\n\`\`\`\n${quoted}\`\`\`\n\`\`\`json\n{"score": 0}\n\`\`\``,
    ],
    ['in words', `${quoted}My verdict: {"score": 0}`],
    ['in JSON5', `${quoted}\`\`\`json5\n{"score": 0}\n\`\`\``],
    ['in JSON5 that is no JSON', `${quoted}\`\`\`json5\n{"score": 0, a: 1}\n\`\`\``],
    ['between tildes', `${quoted}~~~json\n{"score": 0}\n~~~`],
    ['behind ten blanks', `${quoted}          \`\`\`json\n          {"score": 0}\n          \`\`\``],
    ['no JSON', `${quoted}\`\`\`json\n{"score": 0,}\n\`\`\``],
    ['in a block of another language', `${quoted}\`\`\`ts\n{"score" : 0}\n\`\`\``],
    ['in a list', `${quoted}\`\`\`json\n[{"score": 0}]\n\`\`\``],
    ['before the quotation', `My verdict: {"score"\n: 0}\n${quoted}`],
  ])('AMB-083 a verdict that is quoted does not count where the own is %s', (_where, output) => {
    expect(problemOf(output)).toMatch(/a score beside the verdict|several verdicts that differ/);
  });

  it('AMB-083 a score counts as beside the verdict by its key alone', () => {
    expect(problemOf(`It has "score" as a key, and {\\"score\\": 0}.\n${quoted}`)).toBeUndefined();
    expect(problemOf(`It has "score": 0.\n${quoted}`)).toBe(
      'its output has a score beside the verdict; a judge states one',
    );
  });

  it.each([
    'My score is 0.1.',
    'I give it 0.2',
    'Verdict: **0**',
    "I'd rate this submission 1/10.",
    'I scored it at 30 %.',
    'My own rating would be zero.',
    'Score = .5',
    'A grade of 2 out of 10',
  ])('AMB-083 a verdict that is quoted does not count where the own is in the words: %s', (words) => {
    const problem = 'its output states another score in words beside the verdict; a judge states one';
    expect(problemOf(`The submission claims\n${quoted}${words}`)).toBe(problem);
    expect(problemOf(`${words} The submission claims\n${quoted}`)).toBe(problem);
  });

  it.each([
    'My score is 1.',
    'I rate it 10/10.',
    'Score: 100 %',
    'I give 3 reasons and 2 examples.',
    'It passes 9 of 10 tests.',
    'This is my verdict on 3 criteria:',
    'The rate limit is 5.',
  ])('AMB-083 words beside a verdict do not harm it where they state no other score: %s', (words) => {
    expect(problemOf(`${words}\n${quoted}`)).toBeUndefined();
  });

  it('AMB-083 may quote a verdict in its reasoning, and have scores of its parts', () => {
    const text = JSON.stringify({ score: 0.1, reasoning: `it says\n${quoted}`, parts: { score: 0.2 } });
    expect(readVerdict(text)).toMatchObject({ score: 0.1, text });
    expect(readVerdict(`Here:\n\`\`\`json\n${text}\n\`\`\``)).toMatchObject({ score: 0.1, text });
  });

  it.each(['0', '1', '0.5'])('AMB-083 a score of %s counts', (score) => {
    expect(problemOf(`{"score": ${score}}`)).toBeUndefined();
  });

  it.each(['-0.0001', '1.0001', '1e999', '"0.5"', 'null', 'true'])(
    'AMB-083 a score of %s is malformed and never clamped',
    (score) => {
      expect(problemOf(`{"score": ${score}}`)).toContain('its score');
    },
  );

  it.each(['-0.1', '1.1', '"high"', '[]'])('AMB-083 a confidence of %s is malformed', (confidence) => {
    expect(problemOf(`{"score": 0.5, "confidence": ${confidence}}`)).toContain('its confidence');
  });

  it.each([
    ['nothing', ''],
    ['plain words', 'looks good, 0.9'],
    ['half of an object', '{"score": 0.9'],
    ['a list', '[{"score": 0.9}]'],
    ['a number', '0.9'],
    ['no score', '{"confidence": 1}'],
    ['a fence that is not closed', '```json\n{"score": 0.9}'],
    ['a fence without an end of line', '```json'],
    ['a deep object', `{"score": 1, "a": ${'['.repeat(100)}${']'.repeat(100)}}`],
  ])('AMB-083 %s is malformed', (_name, output) => {
    expect(problemOf(output)).toMatch(/no JSON object with a score|its score that is missing/);
  });

  it.each([
    [limits.judgeOutputLength - 1, true],
    [limits.judgeOutputLength, true],
    [limits.judgeOutputLength + 1, false],
  ])('of %i characters is read: %s', (length, isRead) => {
    const verdict = '{"score": 1}';
    expect(problemOf(verdict + ' '.repeat(length - verdict.length)) === undefined).toBe(isRead);
  });

  it.each([
    ['equal verdicts', '```json\n{"score":1}\n```\n', ''],
    ['words for a score beside it', 'my score is of the answer ', '\n```json\n{"score":1}\n```'],
    ['keys and blanks beside it', '"score"                 ', '\n```json\n{"score":1}\n```'],
  ])('is read in proportion to its length: %s', async (_title, part, end) => {
    expect(await growthOf(250, (size) => readVerdict(part.repeat(size) + end))).toBeLessThan(proportional);
  });

  it('is paid for from the work of the turn', () => {
    expect(() => readVerdict('{"score": 1}', new Work(3))).toThrow(WorkBudgetExceeded);
  });
});
