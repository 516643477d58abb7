import { ConfigError } from '../../config.ts';
import { networkHolds } from './address-policy.ts';

/** The entry `web.fetch` of `spec.builtin_dispatchers`. */
interface FetchSettings {
  readonly allow_internal_addresses?: readonly string[];
  readonly cluster_networks?: readonly string[];
}

/** Addresses of the cluster that a process knows of itself. */
interface KnownAddresses {
  /** Address of the Service of the Kubernetes API; undefined outside of a cluster. */
  readonly kubernetes: string | undefined;
  /** Address of this pod. */
  readonly own: readonly string[];
}

interface WebNetworks {
  readonly permittedNetworks: readonly string[];
  /** Opened by a network within them alone. */
  readonly guardedNetworks: readonly string[];
}

/**
 * Networks that `web.fetch` may reach, and those of the cluster that no wider network opens (ADR 0110).
 * @throws ConfigError where internal networks are permitted, and `cluster_networks` lacks an address that is the cluster's.
 */
export function webNetworks(settings: FetchSettings, { kubernetes, own }: KnownAddresses): WebNetworks {
  const { allow_internal_addresses: permittedNetworks = [], cluster_networks: guardedNetworks = [] } = settings;
  if (permittedNetworks.length === 0 || kubernetes === undefined) return { permittedNetworks, guardedNetworks };
  const known = [
    { address: kubernetes, is: 'the Kubernetes API' },
    ...own.map((address) => ({ address, is: 'this pod' })),
  ];
  const lacking = known.filter(({ address }) => !guardedNetworks.some((network) => networkHolds(network, address)));
  if (lacking.length === 0) return { permittedNetworks, guardedNetworks };
  throw new ConfigError(
    lacking.map(({ address, is }) => ({
      name: 'cluster_networks of web.fetch in spec.builtin_dispatchers',
      problem: `lacks the network of ${address}, the address of ${is}; name the networks of nodes, pods and Services`,
    })),
  );
}
