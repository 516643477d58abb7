import { constants } from 'node:http2';

/** The internals of a server call of grpc-js 1.14.7, as far as they count here. */
interface Inside {
  readonly call?: unknown;
  readonly nextCall?: unknown;
  readonly stream?: { close?: (code: number) => void };
  readonly decoder?: Decoder;
}

interface Decoder {
  readonly readState: unknown;
  readPartialMessage: unknown;
  readCompressFlag: unknown;
}

/**
 * Resets the HTTP/2 stream of a server's call. A status waits behind what the peer has not read, so that a peer that
 * reads nothing would keep its stream for ever. The package has no public way to break one off.
 */
export function cutStream(call: unknown): void {
  for (const { stream } of insidesOf(call)) {
    if (typeof stream?.close === 'function') return stream.close(constants.NGHTTP2_CANCEL);
  }
}

/** State of a decoder between two messages. */
const noData = 0;
const noFlag = Buffer.alloc(1);

/**
 * Lets go of the last message that was read: the decoder keeps it, and the chunk of the socket that it came in, until the
 * next one begins. A stream that says nothing for half a minute would keep two kilobytes.
 */
export function releaseRead(call: unknown): void {
  for (const { decoder } of insidesOf(call)) {
    if (decoder === undefined) continue;
    if (decoder.readState !== noData) return;
    decoder.readPartialMessage = [];
    decoder.readCompressFlag = noFlag;
    return;
  }
}

function* insidesOf(call: unknown): Generator<Inside, void> {
  let inside = innerOf(call);
  while (inside !== undefined) {
    yield inside;
    inside = innerOf(inside.call ?? inside.nextCall);
  }
}

const innerOf = (value: unknown): Inside | undefined =>
  typeof value === 'object' && value !== null ? (value as Inside) : undefined;
