// A proxy between a Git forge and the API that gives two headers the names that the API knows. The signature has the same
// form on both sides, and the body passes as it is: what the forge signed is what the API checks, and this program
// needs no secret. Its own address is /SOURCE, such as /forge; nothing but Node is needed.
//
//   WINDLASS_URL=http://windlass-api.windlass-system:8080 PORT=8090 node relay.js
import { createServer, request } from 'node:http';
import { request as requestSecurely } from 'node:https';

const target = new URL(process.env.WINDLASS_URL ?? 'http://127.0.0.1:8080');
const send = target.protocol === 'https:' ? requestSecurely : request;
const renamed = { 'x-hub-signature-256': 'x-svc-signature', 'x-github-delivery': 'x-idempotency-key' };
const ownNames = new Set([...Object.values(renamed), 'host', 'connection']);

function headersOf(incoming) {
  // Headers that the sender itself names like ours are left out: the forge signs for the others only.
  const passed = Object.entries(incoming).filter(([name]) => !ownNames.has(name));
  const added = Object.entries(renamed).flatMap(([from, to]) => (incoming[from] ? [[to, incoming[from]]] : []));
  return Object.fromEntries([...passed, ...added]);
}

const server = createServer((incoming, answer) => {
  const [, source = ''] = /^\/([a-z0-9.-]+)$/.exec(incoming.url ?? '') ?? [];
  if (incoming.method !== 'POST' || source === '') return void answer.writeHead(404).end();
  const url = new URL(`/v1/webhooks/${source}`, target);
  const outgoing = send(url, { method: 'POST', headers: headersOf(incoming.headers) }, (reply) => {
    answer.writeHead(reply.statusCode ?? 502, { 'content-type': reply.headers['content-type'] ?? 'application/json' });
    reply.pipe(answer);
  });
  outgoing.on('error', () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end()));
  incoming.pipe(outgoing);
});

server.listen(Number(process.env.PORT ?? 8090), () => console.log(`relay to ${target} on ${server.address().port}`));
