import { heldBytes } from '../../../lib/conversation/state.ts';
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

/** Counts the tools that a conversation holds beside its texts; one that is opened anew keeps room for as many. */
export const listHolder =
  (driven: { listBytes: number }, log: ConversationLog, room: Room) =>
  (bytes: number): void => {
    driven.listBytes = bytes;
    const held = heldBytes(log.state) + bytes;
    if (!room.fits(held)) throw new Grown(held);
  };
