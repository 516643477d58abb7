import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { AppError } from '../../errors.ts';
import type { AddressPolicy } from './address-policy.ts';

/** Every address of a name. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

interface VettedAgentOptions {
  readonly isPermitted: AddressPolicy;
  readonly resolve: Resolve;
}

const connectMs = 10_000;

/**
 * Connects to permitted addresses only. Names are resolved and vetted for the connection itself, so that no second answer
 * of a name server can lead elsewhere.
 */
export function createVettedAgent(options: VettedAgentOptions): Dispatcher {
  const connect = { lookup: createVettedLookup(options), timeout: connectMs };
  return new Agent({ connect, keepAliveTimeout: 1_000, maxHeaderSize: 65_536 });
}

/** A resolver for one connection that gives permitted addresses only, and an error where a name has none. */
export function createVettedLookup(options: VettedAgentOptions): LookupFunction {
  return (host, { all }, callback) => {
    void addressesFor(host, options).then((found) => {
      // oxlint-disable-next-line promise/no-callback-in-promise -- the interface of Node's resolver
      return 'error' in found ? callback(found.error, []) : give(callback, found.addresses, all);
    });
  };
}

type GiveAddresses = Parameters<LookupFunction>[2];

function give(callback: GiveAddresses, addresses: readonly LookupAddress[], all: boolean | undefined): void {
  const [first] = addresses;
  if (all === true) callback(null, [...addresses]);
  else callback(null, first?.address ?? '', first?.family);
}

type Found = { readonly addresses: readonly LookupAddress[] } | { readonly error: Error };

async function addressesFor(host: string, options: VettedAgentOptions): Promise<Found> {
  try {
    return { addresses: await permittedOf(host, options) };
  } catch (error) {
    return { error: error as Error };
  }
}

async function permittedOf(
  host: string,
  { isPermitted, resolve }: VettedAgentOptions,
): Promise<readonly LookupAddress[]> {
  const found = await resolve(host);
  const permitted = found.filter(({ address }) => isPermitted(address));
  if (permitted.length > 0) return permitted;
  throw new InternalAddress(host, found[0]?.address);
}

/** A host that is an address is never looked up, so it is vetted here. @throws InternalAddress */
export function assertHostPermitted(hostname: string, isPermitted: AddressPolicy): void {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && !isPermitted(address)) throw new InternalAddress(hostname, address);
}

/** A host none of whose addresses is permitted. */
export class InternalAddress extends AppError {
  override readonly name = 'InternalAddress';
  /** The first of them; undefined where the name has none. */
  readonly address: string | undefined;

  constructor(host: string, address: string | undefined) {
    super('forbidden', `${host} has no public address, and none in an internal network that is permitted`, {
      reason: 'DomainNotAllowed',
    });
    this.address = address;
  }
}
