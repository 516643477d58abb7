// Signs one call of a tool (docs/gateway.md). usage: node sign.ts KEY.pem TOKEN EXECUTION_ID TOOL '{"argument":1}'
import { createPrivateKey, randomUUID, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';

const [keyFile = '', token = '', executionId = '', tool = '', args = '{}'] = process.argv.slice(2);
if (tool === '') {
  console.error('usage: node sign.ts KEY.pem TOKEN EXECUTION_ID TOOL [ARGUMENTS]');
  process.exit(2);
}

/** RFC 8785: names sorted by UTF-16 units, no spaces, texts and numbers as ECMAScript writes them. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}

// Equal calls of one second are one call, so that each has an id of its own.
const id = randomUUID();
const payload = { jsonrpc: '2.0', id, method: 'tools/call', params: { name: tool, arguments: JSON.parse(args) } };
const timestamp = Math.floor(Date.now() / 1000);
const bytes = Buffer.from(canonical({ payload, security_token: token, timestamp }));
const signature = sign(null, bytes, createPrivateKey(readFileSync(keyFile))).toString('base64');
const metadata = { execution_id: executionId };
console.log(JSON.stringify({ protocol: 'seal/v1', security_token: token, signature, timestamp, payload, metadata }));
