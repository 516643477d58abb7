import { BlockList, isIP } from 'node:net';
import { expect, it } from 'vitest';
import { networkPattern } from './network.ts';
import { SecurityContextSpec } from './schema/security-context.ts';
import { createValidator, validateSpec } from './validators.ts';

const network = new RegExp(networkPattern);

/** As Node.js reads it. */
function isNetwork(text: string): boolean {
  const [address = '', bits = ''] = text.split('/');
  const family = isIP(address);
  try {
    if (family !== 0) new BlockList().addSubnet(address, Number(bits), family === 6 ? 'ipv6' : 'ipv4');
    return family !== 0 && /^\d+$/.test(bits);
  } catch {
    return false;
  }
}

const groups = (count: number): string => Array.from({ length: count }, (_, index) => `a${index}`).join(':');
const elided = Array.from({ length: 9 }, (_, before) =>
  Array.from({ length: 9 }, (_unused, after) => `${groups(before)}::${groups(after)}`),
).flat();

it.each([
  '300.1.1.1/99',
  '255.255.255.255/32',
  '256.0.0.0/8',
  '10.0.0.0/33',
  '10.0.0.0/0',
  '10.0.0/8',
  '10.0.0.0',
  '10.0.0.0/',
  '10.0.0.0/-1',
  '::/0',
  '::/128',
  '::/129',
  'a:b/8',
  '::ffff:10.0.0.0/104',
  '::10.0.0.0/104',
  ...[groups(7), groups(8), groups(9), ...elided].map((address) => `${address}/64`),
])('AMB-195 takes %s as a network exactly where it is one', (text) => {
  expect(network.test(text)).toBe(isNetwork(text));
});

it.each([
  [
    'spec.networks[1].cidr',
    createValidator(SecurityContextSpec, ['spec'])({
      networks: ['10.0.0.0/8', '300.1.1.1/99'].map((cidr) => ({ cidr, ports: [443] })),
    }),
  ],
  [
    'spec.allow_internal_addresses[1]',
    validateSpec.ApiSpec({ document: '{}', allow_internal_addresses: ['10.0.0.0/8', '300.1.1.1/99'] }),
  ],
])('AMB-195 says that %s is no network', (path, problems) => {
  expect(problems).toEqual([
    expect.objectContaining({
      path,
      message: expect.stringContaining('must be a network, as 10.20.0.0/16') as string,
    }),
  ]);
});
