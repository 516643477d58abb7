import { describe, expect, it } from 'vitest';
import { readProxies } from './trusted-proxies.ts';

describe('AMB-111 trusted proxies', () => {
  it.each<[proxies: string, address: string, want: boolean]>([
    ['', '10.0.0.1', false],
    ['10.0.0.1', '10.0.0.1', true],
    ['10.0.0.1', '10.0.0.2', false],
    ['192.0.2.7, 10.244.0.0/16', '10.244.3.9', true],
    ['10.244.0.0/16', '10.245.0.1', false],
    ['fd00::/8', 'fd12::1', true],
    ['fd00::1', 'fd00::2', false],
    ['0.0.0.0/0', '::1', false],
    ['0.0.0.0/0', '203.0.113.9', true],
    ['10.0.0.0/8', 'unix:/run/proxy', false],
  ])('%s: %s counts: %s', (proxies, address, want) => {
    expect(readProxies(proxies).has(address)).toBe(want);
  });

  it.each(['proxy.example.com', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/x', 'fd00::/129', '/8'])(
    'refuses %s',
    (entry) => {
      expect(() => readProxies(`10.0.0.1,${entry}`)).toThrow(`'${entry}' is neither an address nor a network`);
    },
  );
});
