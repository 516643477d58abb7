import { BlockList, isIP } from 'node:net';

/** Networks that a page of the internet never is in: of this host, of a site, of a provider, for examples, for groups. */
const internal4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
/** Within 2000::/3, beside which nothing is public: Teredo and its like, examples, and 6to4, which holds any IPv4. */
const internal6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];
const public6 = '2000::/3';

/** Whether a connection may be made to an address. */
export type AddressPolicy = (address: string) => boolean;

/**
 * Permits public addresses, and those of the networks that the operator names, such as `10.1.0.0/16` (requirements
 * AMB-139). IPv4 within IPv6, in whichever form, is not public.
 */
export function createAddressPolicy(permittedNetworks: readonly string[] = []): AddressPolicy {
  const permitted = listOf(permittedNetworks);
  const internal = listOf([...internal4, ...internal6]);
  const global6 = listOf([public6]);
  return (address) => {
    const family = familyOf(address);
    if (family === undefined) return false;
    if (permitted.check(address, family)) return true;
    if (internal.check(address, family)) return false;
    return family === 'ipv4' || global6.check(address, 'ipv6');
  };
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address);
  // An address with a zone is one of a link.
  if (version === 0 || address.includes('%')) return undefined;
  return version === 6 ? 'ipv6' : 'ipv4';
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits = ''] = network.split('/');
    list.addSubnet(address, Number(bits), address.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}
