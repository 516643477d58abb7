import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBody } from './read-body.ts';

const server = createServer();

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe('the body of a request', () => {
  it('is not waited for when the client left before anybody looked', async () => {
    const requested = once(server, 'request');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{');
    const [message] = (await requested) as [IncomingMessage];
    const closed = new Promise((resolve) => message.on('error', () => undefined).once('close', resolve));
    socket.destroy();
    await closed;
    const source = { message, onRead: () => undefined };
    await expect(readBody(source, { kind: 'bytes' })).rejects.toMatchObject({ code: 'cancelled' });
  });
});
