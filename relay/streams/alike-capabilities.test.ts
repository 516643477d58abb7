import { expect, it } from 'vitest';
import { createAlikeCapabilities } from './alike-capabilities.ts';

const capabilities = (os: string, label = 'x') => ({
  os,
  arch: 'amd64',
  local_tools: ['cmd.run'],
  mount_points: [],
  labels: { label },
});

it('gives ten thousand hosts of two kinds two objects', () => {
  const alike = createAlikeCapabilities();
  const given = Array.from({ length: 10_000 }, (_, index) => alike(capabilities(index % 2 === 0 ? 'linux' : 'darwin')));
  expect(new Set(given).size).toBe(2);
  expect(given[4]).toEqual(capabilities('linux'));
  expect(given[5]).toEqual(capabilities('darwin'));
});

it('keeps a bounded number of them, and no long one', () => {
  const alike = createAlikeCapabilities();
  const first = alike(capabilities('linux'));
  for (let index = 0; index < 1_000; index += 1) alike(capabilities('linux', String(index)));
  expect(alike(capabilities('linux'))).not.toBe(first);
  const long = capabilities('linux', 'x'.repeat(4_096));
  expect(alike(long)).toBe(long);
  expect(alike(structuredClone(long))).not.toBe(long);
});
