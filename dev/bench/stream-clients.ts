import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Clients that each hold one event stream open. They parse next to nothing: what is measured is the server. */
interface StreamClients {
  /**
   * When each client has received the event of that id, as `performance.now()` gives it. Call before the event can
   * come; rejects after thirty seconds.
   */
  arrivals(id: string): Promise<readonly number[]>;
}

interface StreamOptions {
  readonly count: number;
  readonly token?: string;
  readonly first: string;
}

/** Opens streams, some at a time, works when each has received the event `first`, and closes them. */
export async function withStreams<R>(
  url: URL,
  { count, token, first }: StreamOptions,
  work: (streams: StreamClients) => Promise<R>,
): Promise<R> {
  const clients: Client[] = [];
  try {
    while (clients.length < count) {
      const some = Array.from({ length: Math.min(50, count - clients.length) }, () => new Client(url, token));
      clients.push(...some);
      await Promise.all(some.map((client) => client.received(first)));
    }
    return await work({ arrivals: (id) => Promise.all(clients.map((client) => client.received(id))) });
  } finally {
    for (const client of clients) client.close();
  }
}

class Client {
  readonly #socket: Socket;
  #text = '';
  #awaited = '';
  #resolve: (at: number) => void = () => undefined;

  constructor({ hostname, port, pathname, host }: URL, token: string | undefined) {
    const authorization = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`;
    this.#socket = connect(Number(port), hostname);
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk.toString('latin1')));
    this.#socket.on('error', () => undefined);
    this.#socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\n${authorization}\r\n`);
  }

  received(id: string): Promise<number> {
    const late = once(AbortSignal.timeout(30_000), 'abort').then(() => {
      throw new Error(`the event ${id} did not come; last read: ${this.#text.slice(-300)}`);
    });
    const arrived = new Promise<number>((resolve) => {
      this.#resolve = resolve;
      this.#awaited = `id: ${id}\n`;
    });
    this.#look();
    return Promise.race([arrived, late]);
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(text: string): void {
    this.#text = (this.#text + text).slice(-8_192);
    this.#look();
  }

  #look(): void {
    if (this.#awaited === '' || !this.#text.includes(this.#awaited)) return;
    this.#awaited = '';
    this.#text = '';
    this.#resolve(performance.now());
  }
}
