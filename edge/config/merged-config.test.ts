import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { daemonLimits } from '../limits.ts';
import { openMergedConfig } from './merged-config.ts';
import { readLocalConfig } from './read-config.ts';
import type { LocalConfig } from './schema.ts';

const owner = { uid: process.geteuid?.() ?? 0 };
const local: LocalConfig = {
  labels: { site: 'lab' },
  security_contexts: { default: { tools: ['host.info'], subcommand_allowlist: { uptime: [] } } },
  mounts: [{ path: '/srv' }],
};
let folder: string;
const open = (config: LocalConfig = local) => openMergedConfig(config, join(folder, 'pushed.json'), owner);
const bytes = (text: string): Uint8Array => Buffer.from(text);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edge-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the merged configuration', () => {
  it('EDGE-PROTO-44 takes changes as YAML and as JSON, one over the other', async () => {
    const config = await open();
    await config.push(bytes('security_contexts:\n  ops: { tools: ["fs.*"] }\n'), '1');
    await config.push(bytes('{"labels":{"site":null,"ring":"2"}}'), '2');
    expect(config.current).toEqual({
      ...local,
      labels: { ring: '2' },
      security_contexts: { ...local.security_contexts, ops: { tools: ['fs.*'] } },
    });
    expect(config.version).toBe('2');
  });

  it('EDGE-FLOW-12 is the same after a restart, what was taken away included', async () => {
    const before = await open();
    await before.push(bytes('{"labels":{"site":null}, "security_contexts":{"default":null}}'), 'a');
    const after = await open();
    expect(after.current).toEqual(before.current);
    expect(after.current).toMatchObject({ labels: {}, security_contexts: {} });
    expect(after.version).toBe('a');
  });

  it.each([
    ['an unknown field', '{"lables":{}}'],
    ['mounts, which are the owner’s', '{"mounts":[{"path":"/","writable":true}]}'],
    ['the permission to push', '{"pushed_config":"accept"}'],
    ['an unknown field of a context', '{"security_contexts":{"default":{"tool":["*"]}}}'],
    ['a network that is not isolated', '{"security_contexts":{"default":{"network":"none"}}}'],
    ['a list', '[]'],
    ['no text', '\u0000{'],
    ['an open brace', '{"labels":'],
    ['two documents', 'labels: {}\n---\nlabels: {}\n'],
    ['a name that is a path', '{"labels":{"../x":"y"}}'],
    [
      'labels that the relay would not take',
      JSON.stringify({
        labels: Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`k${at}`, 'v'.repeat(250)])),
      }),
    ],
    [
      'labels of more characters than the relay takes',
      JSON.stringify({
        labels: Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`k${at}`, 'v'.repeat(60)])),
      }),
    ],
  ])('refuses %s, and stays as it was', async (_title, delta) => {
    const config = await open();
    await expect(config.push(bytes(delta), 'bad')).rejects.toThrow('the configuration is not usable');
    expect(config.current).toEqual(local);
    expect(config.version).toBe('');
    expect((await open()).current).toEqual(local);
  });

  it('refuses bytes that are no UTF-8', async () => {
    await expect((await open()).push(Uint8Array.of(0xff, 0xfe), '1')).rejects.toThrow('UTF-8');
  });

  it('takes no change where the owner refuses changes, and forgets former ones', async () => {
    await (await open()).push(bytes('{"labels":{"ring":"2"}}'), '1');
    const config = await open({ ...local, pushed_config: 'refuse' });
    expect(config.current.labels).toEqual({ site: 'lab' });
    await expect(config.push(bytes('{}'), '2')).rejects.toMatchObject({ reason: 'PushedConfigRefused' });
  });

  it.each([
    [0, true],
    [1, false],
  ])('takes a change of the largest size and %d bytes more: %s', async (more, isTaken) => {
    const config = await open();
    const delta = Buffer.alloc(daemonLimits.pushedBytes + more, 0x20);
    delta.write('{}');
    const taken = await config.push(delta, '1').then(
      () => true,
      () => false,
    );
    expect(taken).toBe(isTaken);
  });

  it('says how to continue where its file is damaged', async () => {
    await writeFile(join(folder, 'pushed.json'), '{}', { mode: 0o600 });
    await expect(open()).rejects.toThrow('pushed.json');
  });
});

describe('the configuration of the owner', () => {
  it('is empty where its file is', () => expect(readLocalConfig('\n')).toEqual({}));

  it('names every wrong field', () => {
    expect(() => readLocalConfig('mounts: [{ path: srv }]\nnice: 20\nother: 1\n')).toThrow(
      /(?=[^]*mounts)(?=[^]*nice)(?=[^]*other)/,
    );
  });

  it.each([
    [1, true],
    [64, true],
    [65, false],
    [0, false],
  ])('takes %d commands at a time: %s', (number, isTaken) => {
    const read = (): string => {
      try {
        return JSON.stringify(readLocalConfig(`max_concurrent_commands: ${number}`));
      } catch (error) {
        return String(error);
      }
    };
    expect(read().startsWith('{')).toBe(isTaken);
    expect(read()).toContain('max_concurrent_commands');
  });

  it.each([
    ['processes', 1, 1_000_000],
    ['open_files', 8, 1_000_000],
    ['cpu_seconds', 1, 86_400],
    ['memory_mib', 1, 16_777_216],
  ])('bounds limits.%s from %d to %d', (name, least, most) => {
    for (const value of [least, most]) {
      expect(readLocalConfig(`limits: { ${name}: ${value} }`)).toEqual({ limits: { [name]: value } });
    }
    for (const value of [least - 1, most + 1]) {
      expect(() => readLocalConfig(`limits: { ${name}: ${value} }`)).toThrow(`limits.${name}`);
    }
  });
});
