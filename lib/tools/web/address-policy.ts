import { BlockList, isIP } from 'node:net';

/** Networks that a page of the internet never is in: of this host, of a site, of a provider, for examples, for groups. */
const internal4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
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

/**
 * Networks that no wider one opens: of this host, of a link, of groups, and IPv4 within IPv6. So are addresses of
 * metadata services that are no link-local ones (of Azure, Alibaba Cloud, Oracle Cloud, AWS and Google Cloud).
 */
const guardedNetworks: readonly string[] = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '168.63.129.16/32',
  '100.100.100.200/32',
  '192.0.0.192/32',
  '::/8',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '2001::/32',
  '2002::/16',
  'fe80::/10',
  'ff00::/8',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
];

/** Whether a connection may be made to an address. */
export type AddressPolicy = (address: string) => boolean;

/**
 * Permits public addresses, and those of the networks that the operator names, such as `10.1.0.0/16` (requirements
 * AMB-139). IPv4 within IPv6, in whichever form, is not public. An address of a guarded network, of `guarded` or
 * `guardedNetworks`, is permitted by a network that lies within the guarded one alone (ADR 0110).
 * @throws Error for a text that is no network.
 */
export function createAddressPolicy(
  permittedNetworks: readonly string[] = [],
  guarded: readonly string[] = [],
): AddressPolicy {
  const permitted = permittedNetworks.map(networkOf);
  const guards = [...guardedNetworks, ...guarded].map(networkOf);
  const internal = listOf([...internal4, ...internal6, ...guarded]);
  const global6 = listOf([public6]);
  return (address) => {
    const family = familyOf(address);
    if (family === undefined) return false;
    const naming = permitted.filter((network) => holds(network, address));
    if (naming.length > 0)
      return guards.every((guard) => !holds(guard, address) || naming.some((network) => isWithin(network, guard)));
    if (internal.check(address, family)) return false;
    return family === 'ipv4' || global6.check(address, 'ipv6');
  };
}

/** A network, to compare with others. */
interface Network {
  readonly address: string;
  readonly bits: number;
  readonly family: 'ipv4' | 'ipv6';
  readonly list: BlockList;
}

function networkOf(text: string): Network {
  const [address = '', bits = ''] = text.split('/');
  return { address, bits: Number(bits), family: address.includes(':') ? 'ipv6' : 'ipv4', list: listOf([text]) };
}

/** An IPv4 network holds IPv4 addresses alone: Node's lists also find it behind `::ffff:`. */
const holds = ({ list, family }: Network, address: string): boolean =>
  family === familyOf(address) && list.check(address, family);

const isWithin = (inner: Network, outer: Network): boolean => inner.bits >= outer.bits && holds(outer, inner.address);

/** Whether a network, such as `10.1.0.0/16`, has the address. */
export const networkHolds = (network: string, address: string): boolean => holds(networkOf(network), address);

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
