import { constants } from 'node:http2';

/** The internals of a server call of grpc-js 1.14.7, as far as they count here. */
interface Inside {
  readonly call?: unknown;
  readonly nextCall?: unknown;
  readonly stream?: { close?: (code: number) => void };
}

/**
 * Resets the HTTP/2 stream of a server's call. A status waits behind what the peer has not read, so that a peer that
 * reads nothing would keep its stream for ever; the package has no public way to break one off.
 */
export function cutStream(call: unknown): void {
  let inside: Inside | undefined = innerOf(call);
  while (inside !== undefined) {
    if (typeof inside.stream?.close === 'function') return inside.stream.close(constants.NGHTTP2_CANCEL);
    inside = innerOf(inside.call ?? inside.nextCall);
  }
}

const innerOf = (value: unknown): Inside | undefined =>
  typeof value === 'object' && value !== null ? (value as Inside) : undefined;
