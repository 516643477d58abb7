import { heldBytes, hold, type HeldParts } from '../../../lib/conversation/held-bytes.ts';
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
const allBytes = (state: HeldParts, { callBytes, listBytes }: HeldBeside): number =>
  heldBytes({ ...state, callBytes: Math.max(state.callBytes, callBytes), listBytes });

/** Gives back what a conversation that was read does not need. */
export function settleRoom(room: Room, beside: HeldBeside, { log, task }: ConversationDeps): void {
  const bytes = Math.max(log.state.bytes, 2 * (task.system.length + task.input.length));
  room.settle(allBytes({ ...log.state, bytes }, beside));
}

/** Counts a part, without room for which the conversation is opened anew: then it keeps room for as much. */
const holder =
  (part: keyof HeldBeside, { driven, log, room }: HeldIn) =>
  (bytes: number): void => {
    driven[part] = bytes;
    hold(log.state, { [part]: bytes });
    const held = allBytes(log.state, driven);
    if (!room.fits(held)) throw new Grown(held);
  };

interface HeldIn {
  readonly driven: HeldBeside;
  readonly log: ConversationLog;
  readonly room: Room;
}

/** Both count memory that a conversation holds beside its texts. One that is opened anew still has its list. */
export function holders(driven: HeldBeside, log: ConversationLog, room: Room) {
  hold(log.state, { listBytes: driven.listBytes });
  const within = { driven, log, room };
  return { holdList: holder('listBytes', within), holdCall: holder('callBytes', within) };
}
