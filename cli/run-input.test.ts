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
    ['f.yaml', '', /^f\.yaml holds no object$/],
    ['-', '[1]', /^<stdin> holds no object$/],
    ['-', 'a: [1', /^<stdin>: Flow sequence/],
  ])('of %s is no %j', async (inputFile, text, want) => {
    const error = await readInput(files(text), { inputFile }).catch((thrown: CliError) => thrown);
    expect(error).toMatchObject({
      exit: 'usage',
      message: expect.stringMatching(want),
    });
  });
});
