import { describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
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

  it('takes time in proportion to its length, whatever the fences', () => {
    expect(problemOf('```x\n'.repeat(13_000))).toBeDefined();
  });

  it('is paid for from the work of the turn', () => {
    expect(() => readVerdict('{"score": 1}', new Work(3))).toThrow(WorkBudgetExceeded);
  });
});
