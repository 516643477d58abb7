import { describe, expect, it } from 'vitest';
import { createAddressPolicy } from './address-policy.ts';

describe('an address', () => {
  it.each([
    ['93.184.216.34', true],
    ['9.255.255.255', true],
    ['10.0.0.0', false],
    ['10.255.255.255', false],
    ['11.0.0.0', true],
    ['0.0.0.0', false],
    ['100.63.255.255', true],
    ['100.64.0.1', false],
    ['127.0.0.1', false],
    ['127.255.255.254', false],
    ['169.254.169.254', false],
    ['172.15.255.255', true],
    ['172.16.0.1', false],
    ['172.31.255.255', false],
    ['172.32.0.0', true],
    ['192.168.1.1', false],
    ['198.18.0.1', false],
    ['224.0.0.1', false],
    ['255.255.255.255', false],
    ['2606:2800:220:1:248:1893:25c8:1946', true],
    ['::', false],
    ['::1', false],
    ['fe80::1', false],
    ['fe80::1%eth0', false],
    ['fc00::1', false],
    ['fd00:ec2::254', false],
    ['ff02::1', false],
    ['::ffff:127.0.0.1', false],
    ['::ffff:93.184.216.34', false],
    ['::ffff:7f00:1', false],
    ['64:ff9b::7f00:1', false],
    ['64:ff9b:1::1', false],
    ['2002:7f00:1::', false],
    ['2001:0:4136:e378::1', false],
    ['2001:db8::1', false],
    ['localhost', false],
    ['', false],
  ])('AMB-139 %s is permitted: %s', (address, want) => {
    expect(createAddressPolicy()(address)).toBe(want);
  });

  it('AMB-139 of a network that the operator permits is permitted, and no other', () => {
    const isPermitted = createAddressPolicy(['10.1.0.0/16', 'fd00::/8']);
    expect(['10.1.255.255', 'fd00::1'].map(isPermitted)).toEqual([true, true]);
    expect(['10.0.255.255', '10.2.0.0', 'fc00::1', '127.0.0.1'].map(isPermitted)).toEqual([false, false, false, false]);
  });
});
