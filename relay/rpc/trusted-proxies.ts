import { BlockList, isIP } from 'node:net';
import { AppError } from '../../lib/errors.ts';

/** Whether the `x-forwarded-for` of an address counts. */
export interface TrustedProxies {
  has(address: string): boolean;
}

/**
 * Addresses and networks with commas between them, such as `10.0.0.0/8, fd00::1`.
 * @throws AppError `invalid` that names the first entry which is neither.
 */
export function readProxies(text: string): TrustedProxies {
  const list = new BlockList();
  for (const entry of text.split(',').map((each) => each.trim())) {
    if (entry !== '') add(list, entry);
  }
  return { has: (address) => isIP(address) !== 0 && list.check(address, familyOf(address)) };
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

function add(list: BlockList, entry: string): void {
  const [address = '', bits, ...rest] = entry.split('/');
  const longest = isIP(address) === 6 ? 128 : 32;
  const prefix = bits === undefined ? longest : Number(bits);
  const isNumber = bits === undefined || /^\d{1,3}$/.test(bits);
  if (isIP(address) === 0 || rest.length > 0 || !isNumber || prefix > longest) {
    throw new AppError('invalid', `'${entry.slice(0, 64)}' is neither an address nor a network such as 10.0.0.0/8`);
  }
  list.addSubnet(address, prefix, familyOf(address));
}
