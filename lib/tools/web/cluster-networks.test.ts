import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../config.ts';
import { webNetworks } from './cluster-networks.ts';

const allow_internal_addresses = ['10.0.0.0/8'];
const known = { kubernetes: '10.96.0.1', own: ['10.244.1.5', 'fd99::5'] };

function problemsOf(cluster_networks: readonly string[], allowed = allow_internal_addresses): string[] {
  try {
    webNetworks({ allow_internal_addresses: allowed, cluster_networks }, known);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ problem }) => problem);
  }
}

describe('the networks of the cluster', () => {
  it('are those of the entry, and have the addresses that the process knows', () => {
    const cluster_networks = ['10.244.0.0/16', '10.96.0.0/12', 'fd99::/48'];
    expect(webNetworks({ allow_internal_addresses, cluster_networks }, known)).toEqual({
      permittedNetworks: allow_internal_addresses,
      guardedNetworks: cluster_networks,
    });
  });

  it('AMB-139 end the process where they lack one of these', () => {
    expect(problemsOf(['10.244.0.0/16'])).toEqual([
      expect.stringMatching(/^lacks the network of 10\.96\.0\.1, the address of the Kubernetes API; name the networks/),
      expect.stringMatching(/^lacks the network of fd99::5, the address of this pod;/),
    ]);
    expect(problemsOf(['10.96.0.0/12', 'fd99::/48'])).toEqual([expect.stringContaining('10.244.1.5')]);
  });

  it('have no effect where no internal network is opened, or outside of a cluster', () => {
    expect(problemsOf([], [])).toEqual([]);
    const outside = { kubernetes: undefined, own: ['192.168.1.7'] };
    expect(webNetworks({ allow_internal_addresses, cluster_networks: ['10.1.0.0/16'] }, outside)).toBeDefined();
  });
});
