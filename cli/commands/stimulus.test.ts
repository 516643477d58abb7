import { expect, it } from 'vitest';
import { WindlassApiError } from '../../client/api-error.ts';
import { CliError, exitCodeOfError, exitCodes } from '../exit-codes.ts';
import { explainError } from '../explain-error.ts';
import { createLaunch } from '../launch.ts';
import type { CommandWorld } from '../command-context.ts';
import { stimulusCommand } from './stimulus.ts';

/** The error of `stimulus send` where the API answers so. */
async function refusedWith(status: number, body: { error: string; [field: string]: unknown }): Promise<unknown> {
  const stimuli = { send: () => Promise.reject(new WindlassApiError(status, body)) };
  const world = {
    terminal: { out: () => undefined },
    open: { backend: async () => ({ stimuli }) },
  } as unknown as CommandWorld;
  const command = stimulusCommand(createLaunch(world, () => undefined));
  const argv = ['send', 'the page is down', '--source', 'tickets', '--key', '4711'];
  return command.parseAsync(argv, { from: 'user' }).then(
    () => undefined,
    (error: unknown) => error,
  );
}

type Answer = [status: number, body: { error: string; [field: string]: unknown }];

it.each<[name: string, answer: Answer, exit: number, says: RegExp]>([
  [
    'a key that was used names source, key and the stimulus that counts',
    [409, { error: 'idempotent_duplicate', original_stimulus_id: 's-1' }],
    exitCodes.conflict,
    /source 'tickets' has sent key '4711'.*\n {2}it was stimulus s-1\n.*--key/,
  ],
  [
    'a source that nothing routes is not there',
    [422, { error: 'no_router_configured', message: "no StimulusRouter routes the source 'tickets'" }],
    exitCodes.not_found,
    /routes the source 'tickets'\n.*--source/,
  ],
  [
    'a stimulus that cannot be classified has failed',
    [422, { error: 'classification_failed', message: 'the agent was not sure' }],
    exitCodes.failed,
    /the agent was not sure\nAdd a route for the source 'tickets'/,
  ],
  [
    'a workflow that cannot be started has failed, with its reasons',
    [500, { error: 'workflow_error', message: 'InvalidInput', details: [{ path: 'input.a', message: 'is required' }] }],
    exitCodes.failed,
    /no workflow was started: InvalidInput\n {2}input\.a: is required\nMend/,
  ],
])('STIM-05 %s', async (_name, answer, exit, says) => {
  const error = await refusedWith(...answer);
  expect(error).toBeInstanceOf(CliError);
  expect(exitCodeOfError(error)).toBe(exit);
  expect(explainError(error).lines.join('\n')).toMatch(says);
});

it('any other refusal is said as everywhere', async () => {
  expect(await refusedWith(403, { error: 'forbidden' })).toBeInstanceOf(WindlassApiError);
});
