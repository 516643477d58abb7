/**
 * An identity provider for development: the certified oidc-provider, which believes each user who signs in (README.md).
 * SIGHUP makes it sign with new keys.
 */
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { startOidc } from './server.ts';

const usage = `usage: node dev/oidc/main.ts [OPTION...]

  --host ADDRESS        where to listen (127.0.0.1)
  --port PORT           0 takes a free one (9080)
  --issuer URL          what tokens carry as issuer (the address it listens on)
  --tls-cert FILE       serve over TLS with this certificate …
  --tls-key FILE        … and its key
  --audience NAME       what tokens carry as audience (windlass)
  --token-seconds N     how long a token lives (3600)
`;

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '9080' },
    issuer: { type: 'string' },
    'tls-cert': { type: 'string' },
    'tls-key': { type: 'string' },
    audience: { type: 'string' },
    'token-seconds': { type: 'string', default: '3600' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}

const { 'tls-cert': cert, 'tls-key': key } = values;
const server = await startOidc({
  host: values.host,
  port: Number(values.port),
  issuer: values.issuer,
  audience: values.audience,
  tokenSeconds: Number(values['token-seconds']),
  onError: (error) => void process.stderr.write(`${error.stack}\n`),
  tls:
    cert === undefined || key === undefined
      ? undefined
      : { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') },
});
process.stdout.write(`${server.issuer}\n`);
process.on('SIGHUP', () => void server.rotate());
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void server.close());
