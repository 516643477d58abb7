import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { catalogue } from '../../lib/tools/catalogue/catalogue.ts';
import type { LocalConfig } from '../config/schema.ts';
import { createHostTools, type HostCall } from './host-tools.ts';

const prlimit = '/usr/bin/prlimit';
let folder: string;
let runner: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edge-tools-'));
  runner = join(folder, 'runner');
  const options = { cwd: resolve(import.meta.dirname, '../../runner'), env: { ...process.env, CGO_ENABLED: '0' } };
  await promisify(execFile)('go', ['build', '-o', runner, '.'], options);
}, 600_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

function toolsOf(config: LocalConfig, programs: { readonly runner?: string; readonly prlimit?: string }) {
  const { runner: ofFiles, prlimit: ofLimits } = programs;
  return createHostTools({ clock: systemClock, config: () => config, runs: {}, runner: ofFiles, prlimit: ofLimits });
}

const call = (tool: string, args: HostCall['args'], context: HostCall['context'] = {}): HostCall => ({
  tenant: 'acme',
  author: 'ops',
  tool,
  args,
  contextName: 'default',
  context,
  seconds: 20,
});

describe('the tools of a host', () => {
  it('EDGE-TOOL-01 EDGE-TOOL-05 can run over a fleet, each of them', () => {
    const run = async () => ({ content: '', isError: false });
    const runs = { 'web.fetch': { kind: 'api', run }, 'host.info': { kind: 'api', run } } as const;
    const { names } = createHostTools({ clock: systemClock, config: () => ({}), runs, runner: 'runner', prlimit });
    expect(names).toContain('web.fetch');
    const isCapable = (name: string) => catalogue.get(name)?.fleet_capable ?? true;
    expect(names.filter((name) => !isCapable(name))).toEqual([]);
  });
});

describe('limits of commands', () => {
  const limits = { processes: 77, open_files: 99, cpu_seconds: 5, memory_mib: 64 };
  const shell = { subcommand_allowlist: { sh: ['-c'], 'no-such-program': [] } };
  const sh = (script: string) => call('cmd.run', { command: 'sh', args: ['-c', script] }, shell);
  const ran = (config: LocalConfig, one: HostCall, program: string | undefined = prlimit) =>
    toolsOf(config, program === undefined ? {} : { prlimit: program }).run(one, {
      signal: new AbortController().signal,
      onOutput: () => undefined,
    });

  it('bind the command that runs, each with its number', async () => {
    const { output, exitCode } = await ran({ limits }, sh('cat /proc/self/limits'));
    expect(exitCode).toBe(0);
    for (const line of ['Max processes +77 +77 ', 'Max open files +99 +99 ', 'Max cpu time +5 +5 ']) {
      expect(output?.stdout).toMatch(new RegExp(line));
    }
    expect(output?.stdout).toMatch(/Max address space +67108864 +67108864 /);
  });

  it('leave alone what they do not name', async () => {
    const free = await ran({}, sh('cat /proc/self/limits'));
    const bound = await ran({ limits: { open_files: 99 } }, sh('cat /proc/self/limits'));
    const others = (text = '') => text.split('\n').filter((line) => !line.startsWith('Max open files'));
    expect(others(bound.output?.stdout)).toEqual(others(free.output?.stdout));
  });

  it('end a command that takes more processor time', async () => {
    const { exitCode } = await ran({ limits: { cpu_seconds: 1 } }, sh('while :; do :; done'));
    // SIGXCPU or SIGKILL.
    expect([128 + 24, 128 + 9]).toContain(exitCode);
  });

  it.each([{}, { limits: { open_files: 99 } }])('a command that is missing ends with 127 under %j', async (config) => {
    expect((await ran(config, call('cmd.run', { command: 'no-such-program' }, shell))).exitCode).toBe(127);
  });

  it('refuse every command where nothing can set them', async () => {
    const refused = toolsOf({ limits }, {}).run(sh('true'), {
      signal: new AbortController().signal,
      onOutput: () => undefined,
    });
    await expect(refused).rejects.toMatchObject({ reason: 'LimitsUnavailable' });
  });
});

describe('fs.* of a host, through the runner', () => {
  let [open, closed, secret] = ['', '', ''];
  const context = { path_allowlist: [] as string[] };

  beforeAll(async () => {
    [open, closed, secret] = [join(folder, 'open'), join(folder, 'closed'), join(folder, 'secret')];
    for (const path of [open, closed, secret]) await mkdir(path);
    await writeFile(join(secret, 'key'), 'secret');
    await writeFile(join(closed, 'config'), 'port = 1\n');
    await symlink(join(secret, 'key'), join(open, 'link'));
    context.path_allowlist = [open, closed];
  });

  const used = async (tool: string, args: HostCall['args']) => {
    const config = { mounts: [{ path: open, writable: true }, { path: closed }] };
    const tools = toolsOf(config, { runner });
    const options = { signal: new AbortController().signal, onOutput: () => undefined };
    const { content, isError } = await tools.run(call(tool, args, context), options);
    return { text: content, isError };
  };

  it('are offered where there is a runner alone', () => {
    expect(toolsOf({}, {}).names.filter((name) => name.startsWith('fs.'))).toEqual([]);
    expect(toolsOf({}, { runner }).names).toEqual(expect.arrayContaining(['fs.read', 'fs.write', 'fs.edit']));
  });

  it('write, read, edit, list, search and delete files', async () => {
    const path = join(open, 'a/b.txt');
    for (const [tool, args] of [
      ['fs.create_dir', { path: join(open, 'a') }],
      ['fs.write', { path, content: 'one\ntwo\n' }],
      ['fs.edit', { path, target_content: 'two', replacement_content: 'three' }],
    ] as const)
      expect(await used(tool, args)).toMatchObject({ isError: false });
    expect(await readFile(path, 'utf8')).toBe('one\nthree\n');
    expect((await used('fs.read', { path })).text).toContain('three');
    expect((await used('fs.list', { path: join(open, 'a') })).text).toContain('b.txt');
    expect((await used('fs.grep', { path: open, pattern: 'th.ee' })).text).toContain('b.txt');
    expect(await used('fs.delete', { path })).toMatchObject({ isError: false });
    await expect(readFile(path)).rejects.toThrow('ENOENT');
  });

  it.each([
    ['a file outside of the mounts', 'fs.read', () => ({ path: join(secret, 'key') })],
    ['a file behind a link that leads out', 'fs.read', () => ({ path: join(open, 'link') })],
    ['a path that climbs out', 'fs.read', () => ({ path: `${open}/../secret/key` })],
    ['a mount that is read-only', 'fs.write', () => ({ path: join(closed, 'config'), content: 'x' })],
  ])('do not reach %s', async (_name, tool, args) => {
    const outcome = await used(tool, args()).catch((error: unknown) => ({ text: String(error), isError: true }));
    expect(outcome).toMatchObject({ isError: true });
    expect(outcome.text).not.toContain('"secret"');
    expect(await readFile(join(closed, 'config'), 'utf8')).toBe('port = 1\n');
  });

  it('read a mount that is read-only', async () => {
    expect((await used('fs.read', { path: join(closed, 'config') })).text).toContain('port = 1');
  });
});
