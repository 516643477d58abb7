import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a server on loopback that can be cut. */
export interface Way {
  readonly url: string;
  /** Connections that came while it was cut. */
  readonly refused: number;
  /** The port that connections lead to from now on. */
  leadTo(port: number): void;
  /** Ends every connection, and each that comes, until it is mended. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

export async function startWay(): Promise<Way> {
  const open = new Set<Socket>();
  let refused = 0;
  let isCut = false;
  let port = 0;
  const server = createServer((client) => {
    if (isCut) {
      refused += 1;
      client.resetAndDestroy();
      return;
    }
    const behind = connect(port, '127.0.0.1');
    client.pipe(behind).pipe(client);
    client.on('error', () => behind.destroy());
    behind.on('error', () => client.destroy());
    client.on('close', () => {
      open.delete(client);
      behind.destroy();
    });
    open.add(client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const end = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get refused() {
      return refused;
    },
    leadTo: (to) => void (port = to),
    cut() {
      isCut = true;
      end();
    },
    mend: () => void (isCut = false),
    async close() {
      end();
      server.close();
      await once(server, 'close');
    },
  };
}
