import { type ConversationState, heldBytes } from '../../../lib/conversation/state.ts';
import type { ConversationDeps } from '../conversation/conversation-deps.ts';
import type { ConversationLog } from '../conversation/log.ts';
import type { Room } from './room.ts';

/** The conversation holds more than its room is for and can take; it is loaded again in one for so many bytes of text. */
export class Grown extends Error {
  readonly textBytes: number;

  constructor(textBytes: number) {
    super();
    this.textBytes = textBytes;
  }
}

/** Reads the whole log as far as there is room for it. Where it gives up, how much more is stored is not known. */
export async function readInto(room: Room, log: ConversationLog): Promise<Grown | undefined> {
  while (!(await log.load(room.textBytes)))
    if (!room.fits(heldBytes(log.state))) return new Grown(2 * heldBytes(log.state));
  const held = heldBytes(log.state);
  return room.fits(held) ? undefined : new Grown(held);
}

interface HeldBeside {
  listBytes: number;
  callBytes: number;
}

/** All that a conversation holds. The arguments of a call are in its state too, once they have room or have left. */
const allBytes = ({ bytes, signedBytes, callBytes }: ConversationState, beside: HeldBeside): number =>
  heldBytes({ bytes, signedBytes, callBytes: Math.max(callBytes, beside.callBytes) }) + beside.listBytes;

/** Gives back what a conversation that was read does not need. */
export function settleRoom(room: Room, beside: HeldBeside, { log, task }: ConversationDeps): void {
  const bytes = Math.max(log.state.bytes, 2 * (task.system.length + task.input.length));
  room.settle(allBytes({ ...log.state, bytes }, beside));
}

/** Counts the arguments of the next call of the model; a conversation that is opened anew keeps room for as much. */
const callHolder =
  (driven: HeldBeside, { state }: ConversationLog, room: Room) =>
  (bytes: number): void => {
    driven.callBytes = bytes;
    state.callBytes = bytes;
    const held = allBytes(state, driven);
    if (!room.fits(held)) throw new Grown(held);
  };

/** Counts the tools that a conversation holds beside its texts; one that is opened anew keeps room for as many. */
const listHolder =
  (driven: HeldBeside, log: ConversationLog, room: Room) =>
  (bytes: number): void => {
    driven.listBytes = bytes;
    const held = allBytes(log.state, driven);
    if (!room.fits(held)) throw new Grown(held);
  };

/** Both count memory that a conversation holds beside its texts. */
export const holders = (driven: HeldBeside, log: ConversationLog, room: Room) => ({
  holdList: listHolder(driven, log, room),
  holdCall: callHolder(driven, log, room),
});
