import { BlockList, isIP } from 'node:net';
import { errorAt, type Place, type Problem } from '../../crds/problem.ts';

/** A problem at each item whose identity came before. */
export function repeated<T>(items: readonly T[], at: Place, field: string, identity: (item: T) => string): Problem[] {
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const key = identity(item);
    const isRepeated = seen.has(key);
    seen.add(key);
    return isRepeated ? [errorAt([...at, index, field], 'repeated', 'is given twice; keep one')] : [];
  });
}

/** The message does not hold the address: an operator may have written a password into it. */
export function checkUrl(text: string, at: Place): Problem[] {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    url !== undefined && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (isPlain && (url.protocol === 'http:' || url.protocol === 'https:')) return [];
  return [errorAt(at, 'url', 'must be a URL with http or https, without user, query and fragment')];
}

/** A network in CIDR form. */
export function checkNetwork(network: string, at: Place): Problem[] {
  const [address = '', bits = '', ...more] = network.split('/');
  const family = isIP(address);
  const isNetwork = more.length === 0 && /^\d{1,3}$/.test(bits) && family !== 0;
  if (isNetwork && accepts(address, Number(bits), family === 6 ? 'ipv6' : 'ipv4')) return [];
  return [errorAt(at, 'network', 'must be a network as 10.20.0.0/16')];
}

function accepts(address: string, bits: number, family: 'ipv4' | 'ipv6'): boolean {
  try {
    new BlockList().addSubnet(address, bits, family);
    return true;
  } catch {
    return false;
  }
}
