import { type Dispatcher, type MessageEvent, WebSocket } from 'undici';
import { AppError } from '../errors.ts';
import type { ExecOptions, ExecResult } from './client.ts';
import type { HeaderFields } from './credentials.ts';
import type { KubeStatus } from './objects.ts';

/** The API server's channels: the first byte of each message says which. */
const stdinChannel = 0;
const stdoutChannel = 1;
const stderrChannel = 2;
const statusChannel = 3;
/** Closes one channel; known to version 5 of the protocol only. */
const closeChannel = 255;

const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

interface ExecTarget {
  /** Full URL with the command in its query; `http:` or `https:`. */
  readonly url: string;
  readonly headers: HeaderFields;
  readonly dispatcher: Dispatcher;
}

/** The handshake was refused: the caller can ask by a plain request why. */
export class HandshakeError extends AppError {
  override readonly name = 'HandshakeError';
}

/** Runs one command over one WebSocket. Throws HandshakeError, or AppError `unavailable` when the stream breaks. */
export async function runOverWebSocket(
  target: ExecTarget,
  options: ExecOptions,
  signal: AbortSignal,
): Promise<ExecResult> {
  const socket = new WebSocket(target.url.replace(/^http/, 'ws'), {
    protocols,
    dispatcher: target.dispatcher,
    headers: pairsOf(target.headers),
  });
  socket.binaryType = 'arraybuffer';
  const abort = (): void => socket.close();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await converse(socket, options, signal);
  } finally {
    signal.removeEventListener('abort', abort);
    socket.close();
  }
}

function converse(socket: WebSocket, options: ExecOptions, signal: AbortSignal): Promise<ExecResult> {
  const output = { [stdoutChannel]: [] as Uint8Array[], [stderrChannel]: [] as Uint8Array[] };
  const take = {
    [stdoutChannel]: options.onStdout ?? ((chunk: Uint8Array) => void output[stdoutChannel].push(chunk)),
    [stderrChannel]: options.onStderr ?? ((chunk: Uint8Array) => void output[stderrChannel].push(chunk)),
  };
  let opened = false;
  let status: KubeStatus | undefined;
  return new Promise((resolve, reject) => {
    socket.addEventListener('open', () => {
      opened = true;
      if (options.stdin !== undefined) writeStdin(socket, options.stdin, reject);
    });
    socket.addEventListener('message', (event: MessageEvent) => {
      const message = new Uint8Array(event.data as ArrayBuffer);
      const channel = message[0];
      const chunk = message.subarray(1);
      if (channel === statusChannel) status = JSON.parse(Buffer.from(chunk).toString('utf8')) as KubeStatus;
      else if ((channel === stdoutChannel || channel === stderrChannel) && chunk.length > 0) take[channel](chunk);
    });
    socket.addEventListener('error', () => undefined);
    socket.addEventListener('close', () => {
      if (signal.aborted) return reject(signal.reason);
      if (!opened) return reject(new HandshakeError('unavailable', 'exec: the server refused the stream'));
      const end = endOf(status);
      if (end instanceof AppError) return reject(end);
      resolve({
        exitCode: end,
        stdout: Buffer.concat(output[stdoutChannel]),
        stderr: Buffer.concat(output[stderrChannel]),
      });
    });
  });
}

/** 0 for success; the code the server names; an error when the command could not be run or its end is unknown. */
function endOf(status: KubeStatus | undefined): number | AppError {
  if (status === undefined) return new AppError('unavailable', 'exec: the stream broke before the command ended');
  if (status.status === 'Success') return 0;
  const code = status.details?.causes?.find((cause) => cause.reason === 'ExitCode')?.message;
  if (code !== undefined) return Number(code);
  return new AppError('internal', `exec: ${status.message ?? 'the command could not be run'}`, {
    reason: status.reason,
  });
}

function writeStdin(socket: WebSocket, stdin: Uint8Array | string, reject: (error: AppError) => void): void {
  if (socket.protocol !== protocols[0]) {
    reject(new AppError('unavailable', 'exec: this API server cannot close standard input; it needs Kubernetes 1.30'));
    socket.close();
    return;
  }
  const bytes = typeof stdin === 'string' ? Buffer.from(stdin) : stdin;
  const size = 64 * 1024;
  for (let start = 0; start < bytes.length; start += size) {
    socket.send(Buffer.concat([Uint8Array.of(stdinChannel), bytes.subarray(start, start + size)]));
  }
  socket.send(Uint8Array.of(closeChannel, stdinChannel));
}

function pairsOf(headers: HeaderFields): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).map((one): [string, string] => [name, one]),
  );
}
