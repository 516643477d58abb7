import { describe, expect, it } from 'vitest';
import type { CliError } from './exit-codes.ts';
import { readInput } from './run-input.ts';

const files = (text: string) => ({ read: async () => text, manifests: async () => [] });

describe('the input of a run', () => {
  it('is what the file holds, with the pairs laid over it', async () => {
    const options = { inputFile: 'f.yaml', input: ['n=2', 'who=kim'] };
    expect(await readInput(files('n: 1\nnested: { a: true }\n'), options)).toEqual({
      n: 2,
      who: 'kim',
      nested: { a: true },
    });
    expect(await readInput(files(''), {})).toBeUndefined();
  });

  it.each([
    ['f.yaml', '', /^f\.yaml is empty$/],
    ['-', ' \n', /^<stdin> is empty$/],
    ['-', 'a: [1', /^<stdin>: Flow sequence/],
  ])('of %s is no %j', async (inputFile, text, want) => {
    const error = await readInput(files(text), { inputFile }).catch((thrown: CliError) => thrown);
    expect(error).toMatchObject({
      exit: 'usage',
      message: expect.stringMatching(want),
    });
  });

  it.each<[string, unknown]>([
    ['5', 5],
    ['[1]', [1]],
    ['"x"', 'x'],
    ['"a=b"', 'a=b'],
    ['null', null],
    ['false', false],
    ['12345678901234567890', '12345678901234567890'],
  ])('AMB-175 may be %s, in place of pairs and in a file', async (text, value) => {
    expect(await readInput(files(''), { input: [text] })).toEqual({ input: value });
    if (typeof value === 'string' && text === value) return;
    expect(await readInput(files(text), { inputFile: 'f.json' })).toEqual({ input: value });
  });

  it('AMB-175 may be a whole object in place of pairs', async () => {
    expect(await readInput(files(''), { input: ['{"a": "x=y"}'] })).toEqual({ a: 'x=y' });
  });

  it.each<[string, object, RegExp]>([
    ['a value and a pair', { input: ['[1]', 'a=1'] }, /^--input '\[1\]' is the whole input$/],
    ['two values', { input: ['1', '2'] }, /^--input '1' is the whole input$/],
    ['a value and a file', { input: ['1'], inputFile: 'f.json' }, /^--input '1' is the whole input$/],
    ['a pair and a file without an object', { input: ['a=1'], inputFile: 'f.json' }, /^f\.json holds no object$/],
    ['a text that is neither', { input: ['name'] }, /^--input 'name' is not KEY=VALUE$/],
  ])('AMB-175 is refused of %s', async (_title, options, want) => {
    const error = await readInput(files('[1]'), options).catch((thrown: CliError) => thrown);
    expect(error).toMatchObject({ exit: 'usage', message: expect.stringMatching(want) });
  });
});
