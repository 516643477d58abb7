import { describe, expect, it } from 'vitest';
import { aScript, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { World } from '../../../test/builders/world.ts';
import { processFailure } from './process-bounds.ts';

const most = 131_071;

describe('what a process can be given', () => {
  it.each([
    {
      what: 'an argument',
      bytes: most - 1,
      argv: ['x', 'a'.repeat(most - 1)],
      env: {} as Record<string, string>,
      fits: true,
    },
    { what: 'an argument', bytes: most, argv: ['x', 'a'.repeat(most)], env: {} as Record<string, string>, fits: true },
    {
      what: 'an argument',
      bytes: most + 1,
      argv: ['x', 'a'.repeat(most + 1)],
      env: {} as Record<string, string>,
      fits: false,
    },
    { what: 'a variable with its name', bytes: most, argv: ['x'], env: { K: 'a'.repeat(most - 2) }, fits: true },
    { what: 'a variable with its name', bytes: most + 1, argv: ['x'], env: { K: 'a'.repeat(most - 1) }, fits: false },
    {
      what: 'two-byte letters',
      bytes: most + 1,
      argv: ['é'.repeat((most + 1) / 2)],
      env: {} as Record<string, string>,
      fits: false,
    },
  ])('WF-CR-05 WF-CR-08 $what of $bytes bytes fits: $fits', ({ argv, env, fits }) => {
    expect(processFailure(argv, env) === undefined).toBe(fits);
  });

  it('WF-CR-05 the message names the argument, its size and the way out', () => {
    expect(processFailure(['x', 'a'.repeat(most + 1)], {})).toEqual({
      reason: 'ContainerStartFailed',
      message:
        'argument 1 of the command has 131072 bytes and a process takes 131071; pass large values through a file on a volume',
    });
  });

  it('WF-CR-08 a NUL in a variable is named', () => {
    expect(processFailure(['x'], { A: 'a\0b' })?.message).toBe(
      'env.A contains a NUL character, which no process can be given',
    );
  });

  it('WF-CR-05 AMB-160 AMB-164 the state fails with exit code -1, and no pod is made', () => {
    const state = aScript('x', { command: ['echo', '{{input.x}}'] });
    const world = new World(aWorkflow('w').state('a', state).build(), { spec: { input: { x: 'a\0b' } } }).settle();
    expect(world.pods.size).toBe(0);
    expect(world.status.history).toMatchObject([{ status: 'failed', reason: 'ContainerStartFailed' }]);
    expect(world.board()['a']).toMatchObject({ exit_code: -1 });
  });
});
