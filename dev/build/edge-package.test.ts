import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { daemonProgram } from '../../test/edge/daemon-program.ts';
import { startTestRelay } from '../../test/edge/test-relay.ts';

const run = promisify(execFile);
const project = resolve(import.meta.dirname, '../..');

describe('what an edge host installs', () => {
  let folder = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windlass-edge-package-'));
    // npm names the Node that runs npm itself, which may be an older one.
    const env = { ...process.env, NODE: '/nowhere/node', RUNNER: join(folder, 'runner') };
    await writeFile(env.RUNNER, '');
    await run(process.execPath, [join(project, 'dev/build/edge-package.ts'), join(folder, 'built')], { env });
    const { stdout } = await run('npm', ['pack', '--silent', join(folder, 'built/npm')], { cwd: folder });
    await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
    await run('npm', ['install', '--offline', '--silent', join(folder, stdout.trim())], { cwd: folder });
  }, 600_000);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is a package that needs no other, with unit and runner', async () => {
    const installed = join(folder, 'node_modules/windlass-edge');
    const { dependencies } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as {
      dependencies?: object;
    };
    expect(dependencies).toBeUndefined();
    for (const file of ['windlass-edge.service', 'bin/windlass-runner', 'LICENSE']) await stat(join(installed, file));
  });

  it.each([
    ['the package', () => join(folder, 'node_modules/.bin/windlass-edge')],
    ['the single executable', () => join(folder, 'built/windlass-edge')],
  ])(
    '%s enrolls, connects, runs a command, and finds the runner beside it',
    async (_name, program) => {
      expect((await run(program(), ['--version'])).stdout).toBe(`${manifest.version}\n`);
      const relay = await startTestRelay();
      // Nothing of this machine's Node is used.
      await using daemon = await daemonProgram([program()], { NODE_PATH: '/nowhere' });
      const config = join(daemon.folder, 'config.yaml');
      await writeFile(config, '{"security_contexts":{"default":{"subcommand_allowlist":{"echo":["hello"]}}}}');
      const endpoint = ['--endpoint', `127.0.0.1:${relay.port}`, '--insecure'];
      expect(await daemon.run('enroll', '--token', 'one-time', ...endpoint)).toMatchObject({ code: 0 });
      const daemonProcess = daemon.start('run', '--config', config);
      daemonProcess.stdout?.resume();
      await relay.until(() => relay.events.some(({ $case }) => $case === 'hello'), 120_000);
      expect(relay.events[0]).toMatchObject({
        value: {
          capabilities: { localTools: expect.arrayContaining(['cmd.run', 'fs.read', 'web.fetch']) as string[] },
        },
      });
      const id = await relay.invoke({ tool: 'cmd.run', args: { command: 'echo', args: ['hello'] } });
      await relay.until(() => relay.results(id).length > 0, 120_000);
      expect(relay.results(id)[0]?.outcome).toMatchObject({ $case: 'ok', value: { exitCode: 0 } });
      expect(relay.output(id)).toContain('hello');
      relay.close();
    },
    60_000,
  );
});
