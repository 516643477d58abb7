import { constants, type ServerHttp2Stream } from 'node:http2';
import { PortConnection } from '../connections/port-connection.ts';
import { MessageDecoder } from '../receive/message-decoder.ts';

/** The internals of a server call of grpc-js 1.14.7, as far as they count here. */
interface Inside {
  readonly call?: unknown;
  readonly nextCall?: unknown;
  readonly stream?: { close?: (code: number) => void };
  readonly decoder?: Decoder | MessageDecoder;
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

/** The caller has proved who it is; its connection counts no more as one of a stranger. */
export function vouchFor(call: unknown): void {
  for (const { stream } of insidesOf(call))
    if (stream !== undefined) return PortConnection.vouch(stream as ServerHttp2Stream);
}

/** State of a decoder between two messages. */
const noData = 0;
const noFlag = Buffer.alloc(1);

/** The decoder of ours that reads the messages of a call; undefined where the package reads them. */
export function meterOf(call: unknown): MessageDecoder | undefined {
  for (const { decoder } of insidesOf(call)) if (decoder instanceof MessageDecoder) return decoder;
  return undefined;
}

/** Has the package read a message when one is asked for, and none ahead: it would keep sixteen of a stream. */
export function readNoneAhead(call: unknown): void {
  const { _readableState: state } = call as { readonly _readableState?: { highWaterMark: number } };
  if (state !== undefined) state.highWaterMark = 0;
}

/**
 * Lets go of the last message that was read: the decoder keeps it, and the chunk of the socket that it came in, until the
 * next one begins. A stream that says nothing for half a minute would keep two kilobytes.
 */
export function releaseRead(call: unknown): void {
  for (const { decoder } of insidesOf(call)) {
    if (decoder === undefined || decoder instanceof MessageDecoder) continue;
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
