/** The baseline of event streams: a bare server that writes whatever its parent sends it to every client it has. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';

const clients = new Set<ServerResponse>();

const server = createServer((_request, response) => {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
  response.write('id: start\ndata: {}\n\n');
  clients.add(response);
  response.on('close', () => clients.delete(response));
});

process.on('message', (text: string) => {
  const bytes = Buffer.from(text);
  for (const client of clients) client.write(bytes);
});
process.on('disconnect', () => process.exit(0));

server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
