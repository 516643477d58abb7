import { describe, expect, it } from 'vitest';
import verdicts from '../../../runner/gitop/testdata/addresses.json' with { type: 'json' };
import { createAddressPolicy } from './address-policy.ts';

describe('an address', () => {
  it.each(verdicts)('AMB-139 $address of a page is judged as that of a git server', (verdict) => {
    expect(createAddressPolicy(verdict.opened, verdict.cluster)(verdict.address)).toBe(verdict.permitted);
  });

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

  it.each([
    ['loopback', '127.0.0.1', '127.0.0.1/32'],
    ['this host', '0.0.0.1', '0.0.0.0/8'],
    ['a link', '169.254.1.1', '169.254.1.0/24'],
    ['metadata of a cloud', '169.254.169.254', '169.254.169.254/32'],
    ['metadata of Azure', '168.63.129.16', '168.63.129.16/32'],
    ['metadata of Alibaba Cloud', '100.100.100.200', '100.100.100.200/32'],
    ['a group', '224.0.0.1', '224.0.0.0/4'],
    ['loopback of IPv6', '::1', '::1/128'],
    ['a link of IPv6', 'fe80::1', 'fe80::/10'],
    ['metadata of AWS over IPv6', 'fd00:ec2::254', 'fd00:ec2::254/128'],
    ['IPv4 behind a translation', '64:ff9b::a00:1', '64:ff9b::/96'],
    ['IPv4 within IPv6', '::ffff:10.0.0.1', '::ffff:0:0/96'],
    ['the cluster', '10.244.7.12', '10.244.7.0/24'],
    ['the cluster over IPv6', 'fd99::7', 'fd99::/64'],
  ])('AMB-139 of %s is opened by a network within alone, and by no wider one', (_, address, within) => {
    const guarded = ['10.244.0.0/16', 'fd99::/48'];
    const wide = ['0.0.0.0/0', '::/0', '10.0.0.0/8', '100.64.0.0/10', 'fd00::/8'];
    expect(createAddressPolicy(wide, guarded)(address)).toBe(false);
    expect(createAddressPolicy([...wide, within], guarded)(address)).toBe(true);
    expect(createAddressPolicy([within], guarded)(address)).toBe(true);
  });

  it('AMB-139 of a network of the cluster is not permitted for being public, either', () => {
    expect(createAddressPolicy([], ['93.184.0.0/16'])('93.184.216.34')).toBe(false);
  });

  it('AMB-139 beside the networks of the cluster is permitted by a wide network', () => {
    const isPermitted = createAddressPolicy(['10.0.0.0/8'], ['10.244.0.0/16', '10.96.0.0/12']);
    expect(['10.20.0.1', '10.245.0.1', '10.112.0.1'].map(isPermitted)).toEqual([true, true, true]);
    expect(['10.244.0.1', '10.96.0.1', '10.111.255.255'].map(isPermitted)).toEqual([false, false, false]);
  });
});
