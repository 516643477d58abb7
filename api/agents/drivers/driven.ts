import type { ConversationState } from '../../../lib/conversation/state.ts';
import type { AppError } from '../../../lib/errors.ts';
import type { SignedCalls } from '../calls/signed-calls.ts';
import type { PodChannel } from '../pods/pod-channel.ts';
import type { PodSaying } from '../pods/pod-sayings.ts';
import type { Leaver } from './leave-all.ts';
import type { WaitNote } from './wait-notes.ts';

/** A conversation that this replica drives. */
export interface OpenConversation {
  readonly channel: PodChannel;
  readonly signed: SignedCalls;
  readonly state: ConversationState;
  /** Takes what the pod says, as `hear` does, for as long as the pod waits. */
  hear(saying: PodSaying, signal: AbortSignal): Promise<void>;
}

/** A conversation from the moment in which this replica considers it. */
export interface Driven extends Leaver {
  readonly uid: string;
  conversation: OpenConversation | undefined;
  /** Resolves when it is open here, or will not be. */
  settled: Promise<void>;
  settle: () => void;
  /** Aborts, with Stopped, where another replica wants the conversation, in the midst of a call that continues here without it. */
  readonly moved: AbortController;
  /** Resolves when this replica drives it no more. */
  left: Promise<void>;
  /** A call that continues here, until its answer is taken. */
  outliving: Promise<void> | undefined;
  /** Ends the pause behind an interruption, or before a second look at its driver. Undefined where it is in none. */
  pause: AbortController | undefined;
  /** Others leave it alone while it pauses here: another replica fared no better. */
  isHeld: boolean;
  /** A newer version has written to it, so that this replica cannot drive it. */
  tooNew: AppError | undefined;
  /** The replica that drove it has handed it over to this one. */
  isHandedOver: boolean;
  /** Place of the last record when this replica last drove it, or found that no process does. */
  place: number | undefined;
  /** Bytes of heap of the registered tools that its model was offered last. */
  listBytes: number;
  /** Bytes of heap of the arguments of its next call, where they had no room yet. */
  callBytes: number;
  /** Turns in which a record was added, beside that this replica took over. */
  advances: number;
  /** Says why it waits. */
  readonly note: WaitNote;
  ended: Promise<void>;
}

export function newDriven(uid: string, note: WaitNote): Driven {
  const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
  return {
    uid,
    leave: new AbortController(),
    giveUp: new AbortController(),
    cancel: new AbortController(),
    conversation: undefined,
    settled,
    settle,
    moved: new AbortController(),
    left: Promise.resolve(),
    outliving: undefined,
    pause: undefined,
    isHeld: false,
    tooNew: undefined,
    isHandedOver: false,
    place: undefined,
    listBytes: 0,
    callBytes: 0,
    advances: 0,
    note,
    ended: Promise.resolve(),
  };
}

/** Requests for the conversation wait until it is open again. */
export function withdraw(driven: Driven): void {
  const { promise, resolve } = Promise.withResolvers<void>();
  driven.conversation = undefined;
  driven.settle();
  driven.settled = promise;
  driven.settle = resolve;
}
