import { describe, expect, it } from 'vitest';
import { makeAuthority } from '../../test/builders/x509.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import type { LogFields } from '../logger.ts';
import { followTlsFiles, readServerTls, readTlsFiles, type TlsFiles } from './tls-files.ts';

const paths = { certificate: 'tls.crt', key: 'tls.key', clientAuthorities: 'ca.crt' };
const authority = makeAuthority();
const [first, second] = [authority.issue({ purpose: 'server' }), authority.issue({ purpose: 'server' })];

type Folder = Record<string, string>;
const folderWith = ({ cert, key }: { cert: string; key: string }, ca = authority.cert): Folder => ({
  'tls.crt': cert,
  'tls.key': key,
  'ca.crt': ca,
});

const reader = (folder: Folder) => async (path: string) => {
  const text = folder[path];
  if (text === undefined) throw new Error(`ENOENT: no such file, open '${path}'`);
  return text;
};

describe('files of certificates', () => {
  it('are read', async () => {
    const files = await readTlsFiles(paths, { readFile: reader(folderWith(first)) });
    expect(files).toEqual({ cert: first.cert, key: first.key, ca: authority.cert });
  });

  it('may hold several authorities', async () => {
    const both = `# old\n${authority.cert}\n# new\n${makeAuthority().cert}`;
    await expect(readTlsFiles(paths, { readFile: reader(folderWith(first, both)) })).resolves.toMatchObject({
      ca: both,
    });
  });

  it.each<[title: string, folder: Folder, problem: string]>([
    ['a missing file', { 'tls.crt': first.cert, 'tls.key': first.key }, "open 'ca.crt'"],
    ['no authority, which would trust those of the web', folderWith(first, ''), 'ca.crt holds no certificate'],
    ['an authority that is none', folderWith(first, 'hello'), 'ca.crt holds no certificate'],
    ['a broken authority', folderWith(first, authority.cert.replace(/^MII/m, 'MIJ')), 'ca.crt holds'],
    [
      'a key of another certificate',
      folderWith({ cert: first.cert, key: second.key }),
      'tls.key is not the key of tls.crt',
    ],
    ['half a key', folderWith({ cert: first.cert, key: first.key.slice(0, 80) }), 'tls.key is not the key'],
    ['no certificate', folderWith({ cert: '', key: first.key }), 'tls.crt holds no certificate'],
    ['no key', folderWith({ cert: first.cert, key: '' }), 'tls.key is not the key'],
  ])('are refused with %s', async (_title, folder, problem) => {
    await expect(readTlsFiles(paths, { readFile: reader(folder) })).rejects.toMatchObject({
      code: 'invalid',
      reason: 'TlsInvalid',
      message: expect.stringContaining(problem),
    });
  });

  it('are two where clients show no certificate, and are refused as those are', async () => {
    const folder = { 'tls.crt': first.cert, 'tls.key': first.key };
    expect(await readServerTls(paths, { readFile: reader(folder) })).toEqual({ cert: first.cert, key: first.key });
    const mixed = { ...folder, 'tls.key': second.key };
    await expect(readServerTls(paths, { readFile: reader(mixed) })).rejects.toMatchObject({ reason: 'TlsInvalid' });
  });

  it('are followed: usable ones are used, others are reported once', async () => {
    const clock = createManualClock();
    const folder = folderWith(first);
    const used: TlsFiles[] = [];
    const warned: LogFields[] = [];
    const stop = new AbortController();
    const logger = { ...silentLogger, warn: (fields: LogFields) => void warned.push(fields) };
    const current = await readTlsFiles(paths, { readFile: reader(folder) });
    const followed = followTlsFiles(
      () => readTlsFiles(paths, { readFile: reader(folder) }),
      { current, onChange: (files) => void used.push(files) },
      { clock, logger, signal: stop.signal },
    );
    await clock.advance(30_000);
    expect(used).toEqual([]);

    folder['tls.crt'] = second.cert;
    await clock.advance(30_000);
    expect(used).toEqual([]);
    expect(warned).toHaveLength(1);

    folder['tls.key'] = second.key;
    await clock.advance(10_000);
    expect(used).toEqual([{ cert: second.cert, key: second.key, ca: authority.cert }]);

    delete folder['ca.crt'];
    await clock.advance(20_000);
    expect(used).toHaveLength(1);
    expect(warned).toHaveLength(2);

    folder['ca.crt'] = makeAuthority().cert;
    await clock.advance(10_000);
    expect(used).toHaveLength(2);
    stop.abort();
    await followed;
    expect(clock.sleepers).toBe(0);
  });
});
