import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Certificate, makeCertificate } from '../test/cluster/harness/certificate.ts';
import { bundledDaemon } from '../test/edge/bundled-daemon.ts';
import { daemonProgram } from '../test/edge/daemon-program.ts';
import { startTestRelay, type TestRelay } from '../test/edge/test-relay.ts';

const command = bundledDaemon();
let own: Certificate;
let other: Certificate;
let relay: TestRelay;

beforeAll(async () => {
  [own, other] = await Promise.all([makeCertificate(), makeCertificate()]);
  relay = await startTestRelay({ tls: own, heartbeatMs: 1_000 });
}, 240_000);
afterAll(() => relay.close());

describe('the way to a relay with TLS', () => {
  it('EDGE-FLOW-01 is taken with the authority of --ca, which the daemon keeps for its stream', async () => {
    await using daemon = await daemonProgram(command());
    await writeFile(join(daemon.folder, 'ca.pem'), own.cert);
    const endpoint = ['--endpoint', `localhost:${relay.port}`, '--ca', join(daemon.folder, 'ca.pem')];
    expect(await daemon.run('enroll', '--token', 'one-time', ...endpoint)).toMatchObject({ code: 0 });
    await writeFile(join(daemon.folder, 'ca.pem'), 'gone');
    daemon.start('run').stdout?.resume();
    await relay.until(() => relay.events.some(({ $case }) => $case === 'heartbeat'), 120_000);
    expect(relay.problems).toEqual([]);
  }, 240_000);

  it.each(['another authority', 'those of the system'])(
    'is refused with %s, and says what to do',
    async (name) => {
      await using daemon = await daemonProgram(command());
      await writeFile(join(daemon.folder, 'ca.pem'), other.cert);
      const ca = name === 'another authority' ? ['--ca', join(daemon.folder, 'ca.pem')] : [];
      const keys = relay.keys.length;
      const { code, text } = await daemon.run(
        'enroll',
        '--token',
        'one-time',
        '--endpoint',
        `127.0.0.1:${relay.port}`,
        ...ca,
      );
      expect(code).toBe(1);
      expect(text).toMatch(
        /^error: the certificate of the relay is not trusted: .*; give its authority by .* --ca FILE/m,
      );
      expect(relay.keys.length).toBe(keys);
    },
    60_000,
  );

  it('is no way for a daemon that speaks plain text', async () => {
    await using daemon = await daemonProgram(command());
    const endpoint = ['--endpoint', `127.0.0.1:${relay.port}`, '--insecure'];
    expect(await daemon.run('enroll', '--token', 'one-time', ...endpoint)).toMatchObject({
      code: 1,
      text: expect.stringContaining('UNAVAILABLE') as string,
    });
  }, 240_000);
});
