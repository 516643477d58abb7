import { createServer } from 'node:net';

/** A free port of this machine, for a program that cannot choose one by itself. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  const probe = createServer();
  const port = await new Promise<number>((resolve) => {
    probe.listen(0, host, () => resolve((probe.address() as { port: number }).port));
  });
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
