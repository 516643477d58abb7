import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const settings = 4;
const headersMost = 16_000;
const kinds = { data: 0, headers: 1, reset: 3, settings, ping: 6, goaway: 7, continuation: 9 } as const;

export function frame(kind: number, flags: number, stream: number, body: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.byteLength, 0, 3);
  head.writeUInt8(kind, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}

/** A text of HPACK without any compression. */
export function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const length = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest = Math.trunc(rest / 128)) length.push((rest % 128) + 128);
  return Buffer.concat([Buffer.from([...length, rest]), bytes]);
}

/** A client of HTTP/2 that writes its own frames, and keeps to none of the server's settings. */
export class RawHttp2 {
  readonly socket: Socket;
  /** Numbers of frames that came, by their kind. */
  readonly came: Record<keyof typeof kinds, number> = {
    data: 0,
    headers: 0,
    reset: 0,
    settings: 0,
    ping: 0,
    goaway: 0,
    continuation: 0,
  };
  /** Codes of the streams that were reset. */
  readonly resets: number[] = [];
  isClosed = false;
  #last = -1;
  #received = Buffer.alloc(0);

  constructor(port: number, localAddress: string, isSecure = false) {
    const to = { host: '127.0.0.1', port, localAddress };
    this.socket = isSecure ? connectTls({ ...to, ALPNProtocols: ['h2'], rejectUnauthorized: false }) : connect(to);
    this.socket.on('error', () => undefined).on('close', () => (this.isClosed = true));
    this.socket.on('data', (chunk) => this.#read(chunk));
    this.socket.write(Buffer.concat([preface, frame(settings, 0, 0)]));
  }

  /** Begins a call with so many bytes of headers; answers its number. */
  begin(path: string, headerBytes = 0): number {
    this.#last += 2;
    const filling = Math.max(0, Math.floor(headerBytes / 8));
    const all = [
      [':method', 'POST'],
      [':scheme', 'http'],
      [':path', path],
      [':authority', 'x'],
      ['content-type', 'application/grpc'],
      ['te', 'trailers'],
      ...Array.from({ length: 4 }, (_, at) => [`x-h${at}`, randomBytes(filling).toString('hex')]),
    ];
    const block = Buffer.concat(all.flatMap(([name = '', value = '']) => [Buffer.from([0]), text(name), text(value)]));
    for (let from = 0; from < block.length; from += headersMost) {
      const isLast = from + headersMost >= block.length;
      const kind = from === 0 ? kinds.headers : kinds.continuation;
      this.socket.write(frame(kind, isLast ? 4 : 0, this.#last, block.subarray(from, from + headersMost)));
    }
    return this.#last;
  }

  data(stream: number, body: Uint8Array, isLast = false): void {
    this.socket.write(frame(kinds.data, isLast ? 1 : 0, stream, body));
  }

  #read(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    for (;;) {
      if (this.#received.length < 9) return;
      const length = this.#received.readUIntBE(0, 3);
      if (this.#received.length < 9 + length) return;
      const [kind, flags] = [this.#received.readUInt8(3), this.#received.readUInt8(4)];
      const body = this.#received.subarray(9, 9 + length);
      if (kind === kinds.ping && (flags & 1) === 0) this.socket.write(frame(kind, 1, 0, body));
      if (kind === kinds.reset) this.resets.push(body.readUInt32BE(0));
      for (const [name, number] of Object.entries(kinds))
        if (number === kind) this.came[name as keyof typeof kinds] += 1;
      this.#received = this.#received.subarray(9 + length);
    }
  }
}
