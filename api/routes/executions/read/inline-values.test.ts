import { describe, expect, it } from 'vitest';
import { limits } from '../../../../crds/limits.ts';
import type { WorkflowExecution } from '../../../../crds/schema/workflow-execution.ts';
import type { StoredValue } from '../../../../crds/schema/workflow-execution-status.ts';
import { AppError } from '../../../../lib/errors.ts';
import { anExecution } from '../../../../test/builders/execution-builder.ts';
import { presentExecution } from '../present.ts';
import { presentFull, presentWithOutput } from './inline-values.ts';

const mebibyte = 1_048_576;
const refOf = (letter: string) => letter.repeat(64);
const part = (path: string, letter: string, bytes: number, encoding: 'text' | 'json' = 'text') => ({
  path,
  ref: refOf(letter),
  bytes,
  encoding,
});

function holding(blackboard: Record<string, StoredValue>, status: object = {}): WorkflowExecution {
  return anExecution()
    .status({ blackboard, ...status })
    .build();
}

/** A store that knows these blobs, and counts how often it is asked. */
function storeOf(blobs: Readonly<Record<string, string | AppError>>) {
  const asked: string[] = [];
  const outputs =
    () =>
    ({ ref }: { readonly ref: string }) => {
      asked.push(ref[0] ?? '');
      const found = blobs[ref[0] ?? ''];
      if (found instanceof AppError) return Promise.reject(found);
      return found === undefined
        ? Promise.reject(new AppError('not_found', `stored output ${ref} is gone`))
        : Promise.resolve(Buffer.from(found));
    };
  return { outputs, asked };
}

const entry: StoredValue = {
  value: { status: 'success', output: { stdout: null, stdout_truncated: true }, stdout: null, stdout_truncated: false },
  refs: [part('/output/stdout', 'a', 5), part('/stdout', 'a', 5)],
};

describe('an execution with large values', () => {
  it('AMB-154 shows a reference in their place, and whether more was written than kept', () => {
    expect(presentExecution(holding({ build: entry })).blackboard['build']).toEqual({
      status: 'success',
      output: { stdout: { ref: refOf('a'), bytes: 5, truncated: true }, stdout_truncated: true },
      stdout: { ref: refOf('a'), bytes: 5, truncated: false },
      stdout_truncated: false,
    });
  });

  it('AMB-154 shows them in full when asked to, and reads each once', async () => {
    const store = storeOf({ a: 'hello', b: '{"n":1}', c: '{"all":true}' });
    const execution = holding(
      { build: entry, whole: { refs: [part('', 'b', 7, 'json')] }, small: { value: 1 } },
      { final_output_ref: part('', 'c', 12, 'json') },
    );
    expect(await presentFull(store.outputs, execution)).toEqual({
      ...presentExecution(execution),
      final_output: { all: true },
      blackboard: {
        build: {
          status: 'success',
          output: { stdout: 'hello', stdout_truncated: true },
          stdout: 'hello',
          stdout_truncated: false,
        },
        whole: { n: 1 },
        small: 1,
      },
    });
    expect(store.asked.toSorted()).toEqual(['a', 'b', 'c']);
  });

  it.each([
    [10 * 1024 * 1024 - 1, { all: true }],
    [10 * 1024 * 1024, { all: true }],
    [10 * 1024 * 1024 + 1, { ref: refOf('c'), bytes: 10 * 1024 * 1024 + 1, truncated: false }],
  ])('AMB-187 shows a final_output of %i bytes in full up to 10 MiB, and nothing else', async (bytes, want) => {
    const store = storeOf({ a: 'hello', c: '{"all":true}' });
    const execution = holding({ build: entry }, { final_output_ref: { ...part('', 'c', 12, 'json'), bytes } });
    const shown = await presentWithOutput(store.outputs, execution);
    expect(shown).toEqual({ ...presentExecution(execution), final_output: want });
    expect(store.asked).not.toContain('a');
  });

  it('AMB-154 does not change what the cache holds', async () => {
    const execution = holding({ build: entry });
    const before = JSON.stringify(execution);
    await presentFull(storeOf({ a: 'hello' }).outputs, execution);
    presentExecution(execution);
    expect(JSON.stringify(execution)).toBe(before);
  });

  it.each([
    [limits.inlinedValuesBytes - mebibyte - 1, true],
    [limits.inlinedValuesBytes - mebibyte, true],
    [limits.inlinedValuesBytes - mebibyte + 1, false],
  ])('AMB-154 puts in place no more than 10 MiB: after one of them, %i bytes: %s', async (bytes, fits) => {
    const execution = holding({
      first: { refs: [part('', 'a', mebibyte)] },
      second: { refs: [part('', 'b', bytes)] },
      third: { refs: [part('', 'c', 1)] },
    });
    const { blackboard } = await presentFull(storeOf({ a: 'A', b: 'B', c: 'C' }).outputs, execution);
    expect(blackboard['first']).toBe('A');
    expect(blackboard['second']).toEqual(fits ? 'B' : { ref: refOf('b'), bytes, truncated: false });
    expect(blackboard['third']).toEqual(
      bytes === limits.inlinedValuesBytes - mebibyte ? { ref: refOf('c'), bytes: 1, truncated: false } : 'C',
    );
  });

  it('keeps the reference of a part that is gone from the store', async () => {
    const execution = holding({ build: entry });
    expect(await presentFull(storeOf({}).outputs, execution)).toEqual(presentExecution(execution));
  });

  it('says so when the store cannot be asked', async () => {
    const store = storeOf({ a: new AppError('unavailable', 'no answer') });
    await expect(presentFull(store.outputs, holding({ build: entry }))).rejects.toMatchObject({ code: 'unavailable' });
  });
});
