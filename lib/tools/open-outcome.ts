import { callerError, notYetMessage } from '../caller-error.ts';
import { AppError } from '../errors.ts';
import { KubeError } from '../kube/index.ts';
import { failure } from './answers.ts';
import type { ToolRun } from './tool.ts';

type ApiRun = Extract<ToolRun, { kind: 'api' }>;

/**
 * A tool that may not run twice. After an error that leaves open whether it acted, its answer is `OutcomeUnknown`: callers
 * read of the error itself that they can try again.
 */
export const withOpenOutcome = (run: ApiRun): ApiRun => ({
  ...run,
  async run(caller, args, signal) {
    try {
      return await run.run(caller, args, signal);
    } catch (error) {
      if (signal.aborted || !leavesOpen(error)) throw error;
      return error.reason === unknown
        ? failure(unknown, error.message)
        : failure(unknown, `the tool may have run (${error.reason}); look before you call it again`);
    }
  },
});

const unknown = 'OutcomeUnknown';
/** Errors of a call that came before the operations were there. */
const unbegun: ReadonlySet<string> = new Set(['Starting']);

function leavesOpen(error: unknown): error is AppError {
  if (!(error instanceof AppError) || unbegun.has(error.reason)) return false;
  if (error.code === 'timeout') return true;
  // A new namespace that lacks something is refused before the object is made.
  if (error instanceof KubeError)
    return notYetMessage(error) === undefined && callerError(error).code === 'unavailable';
  return error.code === 'unavailable';
}
