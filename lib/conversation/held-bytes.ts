import { heapBytes } from '../heap-bytes.ts';
import { conversationLimits } from './limits.ts';

/** Bytes of heap that the parts of a conversation take, about. */
export interface HeldParts {
  /** The texts. */
  bytes: number;
  /** The arguments of signed calls under way. */
  signedBytes: number;
  /** The arguments, as values, of the call that is next or under way. */
  callBytes: number;
  /** The registered tools that the model was offered last. */
  listBytes: number;
}

/** All that a conversation holds. */
export const heldBytes = ({ bytes, signedBytes, callBytes, listBytes }: HeldParts): number =>
  bytes + signedBytes + callBytes + listBytes;

/** Counts what no record says: the list of tools, and the arguments of a call that has no record yet. */
export function hold(parts: HeldParts, held: Partial<Pick<HeldParts, 'callBytes' | 'listBytes'>>): void {
  parts.callBytes = held.callBytes ?? parts.callBytes;
  parts.listBytes = held.listBytes ?? parts.listBytes;
}

/** Bytes of heap that the arguments of a signed call take, about: those of many small values take far more than their JSON. */
export const argumentBytes = (args: unknown): number => heapBytes(args, 2 * conversationLimits.signedBytes);

/** The same of a call of the model. */
export const ownArgumentBytes = (args: unknown): number => heapBytes(args, conversationLimits.callBytes);
