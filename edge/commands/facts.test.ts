import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bundledDaemon } from '../../test/edge/bundled-daemon.ts';
import { type DaemonProgram, daemonProgram } from '../../test/edge/daemon-program.ts';
import { startTestRelay, type TestRelay } from '../../test/edge/test-relay.ts';

const command = bundledDaemon();

async function enrolled(relay: TestRelay, config: object, env: Record<string, string> = {}): Promise<DaemonProgram> {
  const daemon = await daemonProgram(command(), env);
  await writeFile(join(daemon.folder, 'config.yaml'), JSON.stringify(config));
  await daemon.run('enroll', '--token', 'one-time', '--endpoint', `127.0.0.1:${relay.port}`, '--insecure');
  return daemon;
}

const configOf = ({ folder }: DaemonProgram) => ['--config', join(folder, 'config.yaml')];

describe.concurrent('windlass-edge status', () => {
  it('says that a machine is not enrolled', async () => {
    await using daemon = await daemonProgram(command());
    const { code, text } = await daemon.run('status', '-o', 'json');
    expect([code, JSON.parse(text)]).toEqual([0, { enrolled: false, running: false }]);
  }, 240_000);

  it('names host, tenant and relay, whether the daemon runs and is connected, and no secret', async () => {
    const relay = await startTestRelay({ heartbeatMs: 1_000 });
    await using daemon = await enrolled(relay, {});
    const before = JSON.parse((await daemon.run('status', '-o', 'json')).text) as object;
    expect(before).toMatchObject({ enrolled: true, node_id: relay.nodeId, tenant: 'acme', running: false });
    daemon.start('run', ...configOf(daemon)).stdout?.resume();
    await relay.until(() => relay.events.some(({ $case }) => $case === 'hello'), 120_000);
    const { text } = await daemon.run('status', '-o', 'json');
    expect(JSON.parse(text)).toMatchObject({ enrolled: true, running: true });
    for (const token of relay.tokens) expect(text).not.toContain(token);
    expect(text).not.toContain('PRIVATE KEY');
    expect((await daemon.run('status')).text).toMatch(new RegExp(`^node_id +${relay.nodeId}$`, 'm'));
    relay.close();
  }, 240_000);
});

describe.concurrent('windlass-edge enroll', () => {
  it('names the command that starts the daemon with the state folder of the enrollment', async () => {
    const relay = await startTestRelay();
    await using daemon = await daemonProgram(command());
    const where = ['--endpoint', `127.0.0.1:${relay.port}`, '--insecure'];
    const { text } = await daemon.run('enroll', '--token', 'one-time', ...where);
    expect(text).toContain(`Start the daemon with: windlass-edge run --state ${join(daemon.folder, 'state')}\n`);
    relay.close();
  }, 240_000);
});

describe.concurrent('windlass-edge doctor', () => {
  it('names each thing that is wrong, and ends with 1', async () => {
    const relay = await startTestRelay();
    await using daemon = await enrolled(relay, { limits: { open_files: 64 } }, { WINDLASS_EDGE_RUNNER: '/no/runner' });
    relay.close();
    const { code, text } = await daemon.run('doctor', ...configOf(daemon));
    expect(code).toBe(1);
    expect(text).toMatch(/^ok {4}files: /m);
    expect(text).toMatch(/^ok {4}token: good for \d+ minutes/m);
    expect(text).toMatch(/^ok {4}limits: open_files 64$/m);
    expect(text).toMatch(/^WRONG contexts: no security_contexts/m);
    expect(text).toMatch(/^WRONG relay: the relay answered UNAVAILABLE/m);
  }, 240_000);

  it('refuses a key that others may read', async () => {
    const relay = await startTestRelay();
    await using daemon = await enrolled(relay, {});
    await chmod(join(daemon.folder, 'state/credential.json'), 0o644);
    const { code, text } = await daemon.run('doctor', ...configOf(daemon));
    expect([code, text]).toEqual([1, expect.stringMatching(/credential\.json/)]);
    relay.close();
  }, 240_000);
});
