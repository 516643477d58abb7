import { chmod, link, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { daemonLimits } from '../limits.ts';
import { openPrivateFolder, readPrivate, writePrivate } from './private-files.ts';

let folder: string;
const uid = process.geteuid?.() ?? 0;
const file = (): string => join(folder, 'credential.json');

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edge-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('files of the daemon', () => {
  it('are written with mode 0600, as a whole, and read again', async () => {
    await writePrivate(file(), 'one');
    await writePrivate(file(), 'two');
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect(await readPrivate(file(), { uid })).toBe('two');
    expect(await readdir(folder)).toEqual(['credential.json']);
  });

  it('are absent before they are written', async () => {
    expect(await readPrivate(file(), { uid })).toBeUndefined();
  });

  it.each([0o640, 0o604, 0o660, 0o601])('are refused with mode %o', async (mode) => {
    await writePrivate(file(), 'x');
    await chmod(file(), mode);
    await expect(readPrivate(file(), { uid })).rejects.toMatchObject({ reason: 'UnsafeFile' });
  });

  it.each(['a symbolic link', 'a second name', 'a folder', 'another owner'])('are refused as %s', async (kind) => {
    const real = join(folder, 'real');
    await writeFile(real, 'x', { mode: 0o600 });
    if (kind === 'a symbolic link') await symlink(real, file());
    else if (kind === 'a second name') await link(real, file());
    else if (kind === 'a folder') await mkdir(file());
    else await writePrivate(file(), 'x');
    const owner = kind === 'another owner' ? uid + 1 : uid;
    await expect(readPrivate(file(), { uid: owner })).rejects.toMatchObject({ reason: 'UnsafeFile' });
  });

  it.each([
    [0, true],
    [1, false],
  ])('of the largest size and %d bytes are read: %s', async (more, isRead) => {
    await writePrivate(file(), 'x'.repeat(daemonLimits.fileBytes + more));
    const outcome = await readPrivate(file(), { uid }).then(
      () => true,
      () => false,
    );
    expect(outcome).toBe(isRead);
  });

  it('replace a link with which someone tries to lead a write elsewhere', async () => {
    const target = join(folder, 'target');
    await writeFile(target, 'untouched');
    await symlink(target, `${file()}.new`);
    await writePrivate(file(), 'secret');
    expect(await readPrivate(target, { uid }).catch((error: Error) => error.message)).not.toContain('secret');
    expect(await readPrivate(file(), { uid })).toBe('secret');
  });
});

describe('the state folder', () => {
  it('is made for its owner alone', async () => {
    const made = join(folder, 'a/b');
    await openPrivateFolder(made, { uid });
    expect((await stat(made)).mode & 0o777).toBe(0o700);
  });

  it.each(['others may enter', 'a symbolic link', 'a file', 'another owner'])('is refused: %s', async (kind) => {
    const path = join(folder, 'state');
    if (kind === 'a symbolic link') await symlink(folder, path);
    else if (kind === 'a file') await writeFile(path, '');
    else await mkdir(path, { mode: 0o700 });
    if (kind === 'others may enter') await chmod(path, 0o710);
    const owner = kind === 'another owner' ? uid + 1 : uid;
    await expect(openPrivateFolder(path, { uid: owner })).rejects.toThrow(path);
  });
});
