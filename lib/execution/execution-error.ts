import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { AppError, type ErrorCode } from '../errors.ts';

/** Why something cannot be done with an execution. */
export type ExecutionErrorReason =
  | 'NotWaiting'
  | 'WaitsElsewhere'
  | 'AlreadyDecided'
  | 'AlreadyFinished'
  | 'UnmatchedResponse'
  | 'NotBegun'
  | 'NotFinished'
  | 'NeverEntered'
  | 'NoSuchLog'
  | 'Deleted';

/** Facts with which an edge explains a refusal. */
interface RefusalFacts {
  /** The state that waits, where another was meant. */
  readonly waiting?: string;
  /** The logs or states there are, where none fits. */
  readonly known?: readonly string[];
  /** The responses that would match, where the one given does not. */
  readonly responses?: readonly string[];
}

/** An execution is not in a state that allows what was asked for. The message is a whole sentence about it. */
export class ExecutionError extends AppError {
  override readonly name = 'ExecutionError';
  declare readonly reason: ExecutionErrorReason;
  readonly execution: WorkflowExecution['metadata'];
  readonly facts: RefusalFacts;

  constructor(
    reason: ExecutionErrorReason,
    { metadata }: WorkflowExecution,
    message: string,
    facts: RefusalFacts = {},
  ) {
    super(codes[reason], message, { reason });
    this.execution = metadata;
    this.facts = facts;
  }
}

/** It is gone, or another one has its name. */
export const deleted = (execution: WorkflowExecution): ExecutionError =>
  new ExecutionError('Deleted', execution, `execution ${execution.metadata.name} was deleted`);

const codes: Readonly<Record<ExecutionErrorReason, ErrorCode>> = {
  NotWaiting: 'conflict',
  WaitsElsewhere: 'conflict',
  AlreadyDecided: 'conflict',
  AlreadyFinished: 'conflict',
  UnmatchedResponse: 'invalid',
  NotBegun: 'conflict',
  NotFinished: 'conflict',
  NeverEntered: 'invalid',
  NoSuchLog: 'not_found',
  Deleted: 'not_found',
};
