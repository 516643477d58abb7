import { BlockList, isIPv6 } from 'node:net';

const own = new BlockList();
own.addSubnet('127.0.0.0', 8, 'ipv4');
own.addAddress('::1', 'ipv6');

/** Whether a URL leads to the machine it is used on and nowhere else: what is sent there cannot be read on the way. */
export function isLoopback({ hostname }: Pick<URL, 'hostname'>): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  return address === 'localhost' || own.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
