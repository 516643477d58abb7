import type { Http2Server, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { status } from '@grpc/grpc-js';
import { joinCredentials } from '../headers.ts';
import { grpcLimits } from '../limits.ts';
import type { PortConnections } from './port-connections.ts';

type OnStream = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  flags: number,
  raw: readonly string[],
) => void;

/**
 * Gives the library the calls of a server of HTTP/2. Headers have a bound, and a call that has its status is over: the library
 * (1.14.7) keeps its stream, with all headers, until the peer ends its side.
 */
export function boundCalls(server: Http2Server, connections: PortConnections): void {
  const listeners = server.listeners('stream') as OnStream[];
  server.removeAllListeners('stream');
  const onStream: OnStream = (stream, headers, flags, raw) => {
    connections.count(stream);
    stream.once('finish', noteAnswered);
    if (bytesIn(raw) > grpcLimits.headerBytes) return refuse(stream);
    joinCredentials(headers, raw);
    for (const listener of listeners) listener.call(server, stream, headers, flags, raw);
  };
  function noteAnswered(this: ServerHttp2Stream): void {
    if (!this.readableEnded) connections.noteAnswered(this);
  }
  server.on('stream', onStream as never);
  server.on('session', (session) => connections.begin(session));
}

/** As HTTP/2 counts them. */
const bytesIn = (raw: readonly string[]): number =>
  raw.reduce((sum, text) => sum + text.length, (raw.length / 2) * entryBytes);
const entryBytes = 32;

/** Node refuses them by itself once the peer has confirmed our settings, which it may leave. */
function refuse(stream: ServerHttp2Stream): void {
  stream.on('error', () => undefined);
  stream.respond(
    {
      ':status': 200,
      'content-type': 'application/grpc+proto',
      'grpc-status': status.RESOURCE_EXHAUSTED,
      'grpc-message': `the headers are larger than ${grpcLimits.headerBytes / 1_024} KiB`,
    },
    { endStream: true },
  );
}
