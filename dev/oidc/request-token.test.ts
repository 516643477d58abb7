import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';

const program = join(import.meta.dirname, 'request-token.ts');

/** The end of dev/oidc/token for anna of the tenant demo. */
function requestToken(...options: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const args = [program, '--user', 'anna', '--tenant', 'demo', ...options];
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, out, err) => resolve({ code: Number(error?.code ?? 0), out, err }));
  });
}

/** An address at which nothing listens any more. */
async function deadAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

describe('dev/oidc/token', () => {
  it('says in one sentence that the provider does not answer', async () => {
    const issuer = await deadAddress();
    expect(await requestToken('--issuer', issuer)).toEqual({
      code: 1,
      out: '',
      err: `The identity provider at ${issuer} does not answer (ECONNREFUSED); make status shows the cluster, make demo installs the provider.\n`,
    });
  });

  it('names a file of authorities that cannot be read', async () => {
    const { code, err } = await requestToken('--issuer', 'http://127.0.0.1:1', '--ca', 'no-such-file.pem');
    expect(code).toBe(2);
    expect(err).toMatch(/^--ca no-such-file\.pem: ENOENT/);
    expect(err).not.toMatch(/\n {4}at /);
  });
});
