import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

const run = promisify(execFile);
const script = resolve(import.meta.dirname, 'install-cli');
/** No Node is on it. */
const path = '/usr/sbin:/sbin:/nowhere';

describe('make cli', { timeout: 120_000 }, () => {
  let folder = '';
  let prefix = '';
  let said = '';

  const install = (extra: string) =>
    run(script, { env: { PREFIX: prefix, PATH: `/usr/bin:/bin${extra}` } }).then(
      ({ stdout, stderr }) => stdout + stderr,
    );
  const windlass = (name: string, ...words: string[]) =>
    run(join(prefix, 'bin', name), words, { env: { PATH: path } }).then(({ stdout }) => stdout);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windlass-cli-'));
    prefix = join(folder, 'a b');
    said = await install('');
  });

  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it('installs the command for a machine without Node, at a path with a space', async () => {
    expect(await windlass('windlass', 'version', '--client')).toBe(`windlass ${manifest.version}\n`);
  });

  it('installs the plugin, which calls itself kubectl windlass', async () => {
    expect(await windlass('kubectl-windlass', '--help')).toMatch(/^Usage: kubectl windlass /);
  });

  it('says what is to do where its folder is not on the PATH, and is quiet where it is', async () => {
    expect(said).toContain(`export PATH="${prefix}/bin:$PATH"`);
    expect(await install(`:${prefix}/bin`)).not.toContain('export PATH');
  });

  it('replaces what an earlier run installed', async () => {
    expect(await install('')).toBe(said);
    expect(await windlass('windlass', 'version', '--client')).toBe(`windlass ${manifest.version}\n`);
    expect(await readdir(join(prefix, 'bin'))).toEqual(['kubectl-windlass', 'windlass']);
    expect(await readdir(join(prefix, 'lib/windlass'))).toEqual(['app', 'node']);
  });
});
