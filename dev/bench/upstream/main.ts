/** An upstream that does nothing but answer each request with one order. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';

const order = JSON.stringify({ id: '7', customer: 'ada', item: 'tea', quantity: 2 });
const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(order) };
const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(200, headers).end(order));
});

process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
