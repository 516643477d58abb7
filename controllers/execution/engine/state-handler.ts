import type { StateOf } from '../../../crds/schema/state.ts';
import type { StateKind } from '../../../crds/schema/state-kinds.ts';
import type { FailureCause } from '../../../crds/schema/workflow-execution-status.ts';
import type { ConsensusOutcome } from './first-match.ts';
import type { Draft } from './draft.ts';
import type { Failure, StepOutcome } from './facts.ts';
import type { CurrentVisit, VisitChange } from './reduce.ts';

/** The outcome of a visit that has ended, or what changes of one that continues. */
export type VisitUpdate =
  | { readonly outcome: VisitOutcome }
  | { readonly outcome?: undefined; readonly change: VisitChange };

/** The update of a visit that was changed before the rest of it was looked at. */
export const after = (change: VisitChange, update: VisitUpdate): VisitUpdate =>
  update.outcome === undefined ? { change: { ...change, ...update.change } } : update;

/**
 * Looks at the facts of the current visit and gives back its outcome or its change. Things to start, stop or
 * wait for are in the draft. Called again and again; the same facts give the same answer.
 */
export type StateHandler<K extends StateKind> = (draft: Draft, state: StateOf<K>, current: CurrentVisit) => VisitUpdate;

/** How a visit of a state ended, whatever its kind. */
export interface VisitOutcome {
  /** Why the state failed; absent: it succeeded. */
  readonly failure?: Failure;
  /** The execution below this one for whose failure it failed. */
  readonly cause?: FailureCause;
  /** The Blackboard entry under the state's name. */
  readonly entry: unknown;
  /** More Blackboard keys that the state writes, by key. */
  readonly writes?: Readonly<Record<string, unknown>>;
  readonly exitCode?: number;
  /** Result of an agent. */
  readonly score?: number;
  readonly confidence?: number;
  /** Result of judges. */
  readonly consensus?: ConsensusOutcome;
  readonly attempts?: number;
  /** The decision that ended a Human state. */
  readonly signal?: { readonly id: string; readonly by: string; readonly at: string; readonly response: string };
  /** Text of `{{human.feedback}}` from now on. */
  readonly humanFeedback?: string;
  /** The whole execution fails with `failure`, whatever the rules say. */
  readonly fatal?: boolean;
}

/** The keys of a container's result (spec 1 §2.6, "Blackboard entry"). */
export function containerResult(outcome: StepOutcome): Record<string, unknown> {
  const { exitCode, failure } = outcome;
  return {
    exit_code: exitCode,
    stdout: outcome.stdout,
    stderr: outcome.stderr,
    duration_ms: outcome.durationMs,
    ...(exitCode < 0 && failure !== undefined ? { error: `${failure.reason}: ${failure.message}` } : {}),
    ...(outcome.stdoutTruncated || outcome.stderrTruncated
      ? { truncated: true, stdout_truncated: outcome.stdoutTruncated, stderr_truncated: outcome.stderrTruncated }
      : {}),
    ...(outcome.lost === undefined ? {} : { output_lost: true }),
  };
}

/** Templates read `STATE.output.KEY`, the specification lists `KEY`: the entry has both (requirements AMB-005). */
export function withTwins(status: 'success' | 'failed', output: Readonly<Record<string, unknown>>): unknown {
  return { ...output, status, output };
}

/** Exit code of a command that took too long (requirements AMB-160). */
const timeoutExitCode = 124;

/** The outcome of a container that was stopped for the timeout of its state. */
export const timedOut = (outcome: StepOutcome, failure: Failure): StepOutcome => ({
  ...outcome,
  exitCode: timeoutExitCode,
  failure,
});
