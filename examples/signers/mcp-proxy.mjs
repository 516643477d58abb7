// Lets MCP clients that cannot sign use the gateway (docs/gateway.md): signs what it gets on a loopback port and sends it on.
// usage: node mcp-proxy.mjs KEY.pem TOKEN EXECUTION_ID http://GATEWAY/v1/mcp [PORT]     prints the URL for clients
import { createPrivateKey, randomUUID, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [keyFile, token, executionId, gateway, port = '0'] = process.argv.slice(2);
const key = createPrivateKey(readFileSync(keyFile));

/** RFC 8785: names sorted by UTF-16 units, no spaces, texts and numbers as ECMAScript writes them. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${members.join(',')}}`;
}

/** Equal calls of one second would be one call to the gateway, so each gets a value of its own. */
function withNonce(message) {
  if (message.method !== 'tools/call') return message;
  const _meta = { ...message.params?._meta, 'windlass.dev/nonce': randomUUID() };
  return { ...message, params: { ...message.params, _meta } };
}

function sealOf(payload) {
  const timestamp = Math.floor(Date.now() / 1000);
  const bytes = Buffer.from(canonical({ payload, security_token: token, timestamp }));
  return {
    authorization: `Bearer ${token}`,
    'seal-execution-id': executionId,
    'seal-timestamp': String(timestamp),
    'seal-signature': sign(null, bytes, key).toString('base64'),
  };
}

async function forward(request) {
  const own = Object.entries(request.headers).filter(([name]) => /^(accept|content-type|mcp-.*)$/.test(name));
  const headers = Object.fromEntries(own);
  if (request.method !== 'POST') return fetch(gateway, { method: request.method, headers });
  const message = withNonce(JSON.parse(Buffer.concat(await request.toArray()).toString()));
  const init = { method: 'POST', headers: { ...headers, ...sealOf(message) }, body: JSON.stringify(message) };
  return fetch(gateway, init);
}

const server = createServer(async (request, response) => {
  // A page of the web must not sign with this key.
  if (request.headers.origin !== undefined) return response.writeHead(403).end();
  try {
    const answer = await forward(request);
    const type = answer.headers.get('content-type');
    response.writeHead(answer.status, type === null ? {} : { 'content-type': type });
    response.end(Buffer.from(await answer.arrayBuffer()));
  } catch (error) {
    response.writeHead(502).end(String(error.message));
  }
});
server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/v1/mcp`));
