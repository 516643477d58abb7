import { WindlassApiError, WindlassConnectionError } from '../client/api-error.ts';
import type { Phase } from '../crds/schema/workflow-execution-status.ts';
import { succeeded } from '../lib/execution/finished.ts';
import { AppError, type ErrorCode } from '../lib/errors.ts';

/** Exit codes for scripts. The meanings are stable: new ones get new numbers. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  not_found: 3,
  conflict: 4,
  timeout: 5,
  cancelled: 6,
  cluster: 7,
  internal: 10,
  interrupted: 130,
} as const;
export type ExitName = keyof typeof exitCodes;
export type ExitCode = (typeof exitCodes)[ExitName];

/** One sentence for each code, for `--help` and the reference page. */
export const exitMeanings: Readonly<Record<ExitName, string>> = {
  ok: 'done; a watched or awaited execution completed',
  failed:
    'the execution or the tool failed or could not be started, a manifest is not valid, an audit is broken, or the output cannot be written',
  usage: 'the command line or the input is wrong; nothing was changed',
  not_found: 'no such workflow, execution, state, namespace, tenant or route',
  conflict: 'the object is not in a state that allows this, or another caller was first',
  timeout: '--timeout ran out; the execution continues',
  cancelled: 'the execution was cancelled',
  cluster: 'the cluster or server cannot be reached, gives no answer, refuses access or has no Windlass',
  internal: 'a defect of windlass itself',
  interrupted: 'interrupted by Ctrl-C; the execution continues',
};

/** Requests to the API server that fail end with these. */
const exitOfErrorCode: Readonly<Record<ErrorCode, ExitName>> = {
  invalid: 'usage',
  unauthenticated: 'cluster',
  forbidden: 'cluster',
  not_found: 'not_found',
  already_exists: 'conflict',
  conflict: 'conflict',
  gone: 'cluster',
  limit_exceeded: 'usage',
  timeout: 'cluster',
  unavailable: 'cluster',
  cancelled: 'interrupted',
  terminal: 'usage',
  wait: 'cluster',
  lost_leadership: 'internal',
  internal: 'cluster',
};

const exitOfPhase: Readonly<Record<Phase, ExitName>> = {
  pending: 'ok',
  running: 'ok',
  waiting: 'ok',
  completed: 'ok',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** Every phase. Taken from here, not from the schema, which would load the schema library for `--help`. */
export const phaseNames = Object.keys(exitOfPhase) as Phase[];

/** How a command ends that watched an execution up to this phase. */
export function exitCodeOfPhase(phase: Phase): ExitCode {
  return exitCodes[exitOfPhase[phase]];
}

/** How a command ends that watched an execution to its end: one that completed with a failed last state has failed. */
export function exitCodeOfEnd(status: { readonly phase: Phase; readonly reason?: string }): ExitCode {
  return status.phase === 'completed' && !succeeded(status) ? exitCodes.failed : exitCodeOfPhase(status.phase);
}

/** How a command ends that threw `error`. */
export function exitCodeOfError(error: unknown): ExitCode {
  if (error instanceof CliError) return exitCodes[error.exit];
  if (error instanceof AppError) return exitCodes[exitOfErrorCode[error.code]];
  if (error instanceof WindlassApiError) return exitCodes[isElsewhere(error) ? 'cluster' : exitOfStatus(error.status)];
  return error instanceof WindlassConnectionError ? exitCodes.cluster : exitCodes.internal;
}

/** Whether a 404 is about the path: a server that is not Windlass, or an address with a path behind the API's. */
export function isElsewhere({ status, error }: WindlassApiError): boolean {
  return status === 404 && (error === 'not_found' || error.startsWith('http_'));
}

/** Requests to the HTTP API that fail end as those to Kubernetes do. */
function exitOfStatus(status: number): ExitName {
  if (status === 404) return 'not_found';
  if (status === 409) return 'conflict';
  return status === 400 || status === 413 || status === 415 || status === 422 ? 'usage' : 'cluster';
}

/** An error with a sentence for the person at the keyboard, facts a line each, and a hint what to do about it. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exit: ExitName;
  readonly hint: string | undefined;
  readonly facts: readonly string[];

  constructor(exit: ExitName, message: string, hint?: string, facts: readonly string[] = []) {
    super(message);
    this.exit = exit;
    this.hint = hint;
    this.facts = facts;
  }
}
