import type { ToolCall, ToolCallStatus } from '../../crds/schema/tool-call.ts';

/** The next step of a replica for a call. */
type ToolCallStep =
  /** It has ended, or another installation has it. */
  | { readonly kind: 'none' }
  /** No replica has it. */
  | { readonly kind: 'claim' }
  /** This replica has claimed it and has not begun: the answer to its claim was lost. */
  | { readonly kind: 'run' }
  /** It was cancelled before a replica took it. */
  | { readonly kind: 'cancel' }
  /** Another replica runs it, as long as that lives. */
  | { readonly kind: 'watch'; readonly holder: string };

/** The replica that looks at a call. */
export interface Replica {
  /** Its name in claims. */
  readonly holder: string;
  /** Beginning of the names of all replicas that it can ask whether they live. */
  readonly group: string;
}

/** Decides by the object alone. The caller knows which calls this process has begun, and asks for none of those. */
export function nextStep({ metadata, spec, status = {} }: ToolCall, replica: Replica): ToolCallStep {
  if (metadata.deletionTimestamp !== undefined) return none;
  const { phase, claim } = status;
  if (phase === undefined) return { kind: spec.cancel === undefined ? 'claim' : 'cancel' };
  return phase !== 'running' || claim === undefined ? none : ofClaimed(claim.by, replica);
}

const none = { kind: 'none' } as const;

function ofClaimed(by: string, { holder, group }: Replica): ToolCallStep {
  if (by === holder) return { kind: 'run' };
  return by.startsWith(group) ? { kind: 'watch', holder: by } : none;
}

/** Claims of one call at most: a call that ends each replica that runs it does not go on for ever. */
const attemptsMax = 3;

/** Whether a call whose replica is gone is made again. */
export const mayRunAgain = ({ status }: ToolCall, isRepeatable: boolean): boolean =>
  isRepeatable && (status?.claim?.attempt ?? 1) < attemptsMax;

/** The number of the next claim. A call that a stopping replica gave back has lost none: a rollout stops one after the other. */
export const nextAttempt = ({ phase, claim }: ToolCallStatus = {}): number => {
  if (claim === undefined) return 1;
  return phase === undefined ? claim.attempt : claim.attempt + 1;
};

/** Whether nothing waits for its end any more. */
export const isUnwanted = ({ metadata, spec }: ToolCall): boolean =>
  spec.cancel !== undefined || metadata.deletionTimestamp !== undefined;
