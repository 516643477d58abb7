import { isUtf8 } from 'node:buffer';
import { BinaryReader } from '@bufbuild/protobuf/wire';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Half a surrogate pair. No UTF-8 decodes to it. */
const notText = '\ud800';

/**
 * Reads a message so that a string whose bytes are no UTF-8, which makes the message malformed, can be found by its
 * field. The string is not well-formed (`isWellFormed`), as no other is. Throwing here would be INTERNAL, without a
 * name.
 */
export function markingReader(bytes: Uint8Array): BinaryReader {
  return new BinaryReader(bytes, (text) => (isUtf8(text) ? decoder.decode(text) : notText));
}
