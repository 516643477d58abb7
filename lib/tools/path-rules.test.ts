import { describe, expect, it } from 'vitest';
import { aToolCaller } from '../../test/builders/tool-caller.ts';
import { createToolbox } from './toolbox.ts';
import { isRefusal } from './tool.ts';
import { boundariesOf } from './path-rules.ts';

type Parts = NonNullable<Parameters<typeof aToolCaller>[0]>;
const mounts = [
  { path: '/workspace', writable: true },
  { path: '/data/', writable: false },
];
const filesystem = (read?: string[], write?: string[]): Parts => ({
  spec: { security: { filesystem: { read, write } } },
});

const shown = (parts: Parts): string =>
  boundariesOf(aToolCaller({ mounts, ...parts }))
    .map(({ path, write }) => `${path}${write ? ' w' : ''}`)
    .join(', ');

describe('the boundaries of a caller', () => {
  it.each<[string, Parts, string]>([
    ['TOOL-FS-01 are its mounts', {}, '/workspace w, /data/'],
    ['shrink to what the manifest reads', filesystem(['/workspace/in']), '/workspace/in'],
    [
      'are written only where the manifest and the mount permit it',
      filesystem([], ['/workspace/out', '/data/out']),
      '/workspace/out w, /data/out',
    ],
    ['grow by nothing outside the mounts', filesystem(['/etc', '/'], ['/root']), '/workspace, /data/'],
    ['follow globs within a mount', filesystem(['/workspace/**/*.md']), '/workspace/**/*.md'],
    ['take a tree within a mount', filesystem(['/workspace/**']), '/workspace/**'],
    [
      'know no overlap of two globs',
      { ...filesystem(['/workspace/*.md']), security: { path_allowlist: ['/workspace/a*'] } },
      '',
    ],
    ['leave dots out', filesystem(['/workspace/../etc']), ''],
    ['shrink to path_allowlist', { security: { path_allowlist: ['/workspace/src'] } }, '/workspace/src w'],
    ['are none for an empty path_allowlist', { security: { path_allowlist: [] } }, ''],
    ['are none for an empty filesystem', { spec: { security: { filesystem: {} } } }, ''],
    ['are none without a mount', { mounts: [] }, ''],
  ])('%s', (_what, parts, want) => {
    expect(shown(parts)).toBe(want);
  });
});

describe('a path', () => {
  const toolbox = createToolbox({ builtin_dispatchers: [] });
  const verdict = (path: string, parts: Parts = {}): string => {
    const admitted = toolbox.admit(aToolCaller({ mounts, ...parts }), 'fs.read', { path });
    return isRefusal(admitted) ? admitted.code : 'admitted';
  };

  it.each([
    ['/workspace', 'admitted'],
    ['/workspace/a/b', 'admitted'],
    ['a.txt', 'admitted'],
    ['./a/../b', 'admitted'],
    ['/data/x', 'admitted'],
    ['/workspaces', 'PathOutsideBoundary'],
    ['/etc/passwd', 'PathOutsideBoundary'],
    ['../etc/passwd', 'PathOutsideBoundary'],
    ['/workspace/../etc/passwd', 'PathOutsideBoundary'],
    ['/', 'PathOutsideBoundary'],
  ])('TOOL-FS-02 %s is %s', (path, want) => {
    expect(verdict(path)).toBe(want);
  });

  it.each([
    ['/workspace/*.md', '/workspace/a.md', 'admitted'],
    ['/workspace/*.md', '/workspace/a/b.md', 'PathOutsideBoundary'],
    ['/workspace/**/*.md', '/workspace/a.md', 'admitted'],
    ['/workspace/**/*.md', '/workspace/a/b.md', 'admitted'],
    ['/workspace/a?', '/workspace/ab', 'admitted'],
    ['/workspace/a?', '/workspace/a/', 'PathOutsideBoundary'],
    ['/workspace/a?/**', '/workspace/ab/c/d', 'admitted'],
    ['/workspace/a.(b)+*', '/workspace/a.(b)+', 'admitted'],
    ['/workspace/{a,b}/x', '/data/x', 'PathOutsideBoundary'],
  ])('TOOL-FS-01 under the glob %s, %s is %s', (glob, path, want) => {
    expect(verdict(path, { security: { path_allowlist: [glob] } })).toBe(want);
  });

  it.each([
    ['/workspace/secret', '/workspace/secret', 'PERMISSION_DENIED'],
    ['/workspace/secret', '/workspace/secret/a/b', 'PERMISSION_DENIED'],
    ['/workspace/secret', '/workspace/secrets', 'admitted'],
    ['/workspace/secret/**', '/workspace/secret', 'PERMISSION_DENIED'],
    ['/workspace/secret/**', 'secret/a', 'PERMISSION_DENIED'],
    ['/workspace/*.key', '/workspace/a.key', 'PERMISSION_DENIED'],
    ['/workspace/*.key', '/workspace/a.key/b', 'PERMISSION_DENIED'],
    ['/workspace/*.key', '/workspace/a/b.key', 'admitted'],
    ['/**/*.key', '/data/a/b.key', 'PERMISSION_DENIED'],
    ['volume:db/in', '/db/in/a', 'PERMISSION_DENIED'],
    ['volume:d*/**', '/db/in/a', 'PERMISSION_DENIED'],
    ['volume:other/in', '/db/in/a', 'admitted'],
    ['/workspace/{a,b}', '/workspace/c', 'admitted'],
    ['fs.write', '/workspace/a', 'admitted'],
  ])('TOOL-FS-01 AMB-131 with %s in deny_list, %s is %s before anything runs', (rule, path, want) => {
    const withVolume = [...mounts, { path: '/db', writable: true, volume: 'db' }];
    expect(verdict(path, { mounts: withVolume, security: { deny_list: [rule] } })).toBe(want);
  });

  it.each([
    [4_096, 'admitted'],
    [4_097, 'InvalidArguments'],
  ])('of %i characters is %s', (length, want) => {
    expect(verdict('a'.repeat(length))).toBe(want);
  });
});
