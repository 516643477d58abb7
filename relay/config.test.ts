import { describe, expect, it } from 'vitest';
import { readRelayConfig, servesEdge } from './config.ts';

const least = { WINDLASS_RELAY_KEY: '/key.pem', WINDLASS_NATS_URL: 'nats://localhost:4222' };

const problemOf = (env: Readonly<Record<string, string | undefined>>): string => {
  try {
    readRelayConfig({ ...least, ...env });
    return '';
  } catch (error) {
    return String(error);
  }
};

describe('the settings of the relay', () => {
  it('EDGE-TOOL-09 EDGE-TOOL-10 ask for a heartbeat every 30 s, and allow 90 s of silence, by default', () => {
    expect(readRelayConfig(least)).toMatchObject({
      WINDLASS_CLUSTER_HEARTBEAT_INTERVAL_SECS: 30,
      WINDLASS_STALE_THRESHOLD_SECS: 90,
    });
  });

  it.each([
    ['WINDLASS_CLUSTER_HEARTBEAT_INTERVAL_SECS', '1', true],
    ['WINDLASS_CLUSTER_HEARTBEAT_INTERVAL_SECS', '0', false],
    ['WINDLASS_CLUSTER_HEARTBEAT_INTERVAL_SECS', '3600', true],
    ['WINDLASS_CLUSTER_HEARTBEAT_INTERVAL_SECS', '3601', false],
    ['WINDLASS_CLUSTER_HEARTBEAT_INTERVAL_SECS', '1.5', false],
    ['WINDLASS_STALE_THRESHOLD_SECS', '86400', true],
    ['WINDLASS_STALE_THRESHOLD_SECS', '86401', false],
  ])('EDGE-TOOL-09 EDGE-TOOL-10 %s=%s: %s', (name, value, isTaken) => {
    // The other one gets out of the way.
    const other = name === 'WINDLASS_STALE_THRESHOLD_SECS' ? {} : { WINDLASS_STALE_THRESHOLD_SECS: '86400' };
    expect(problemOf({ ...other, [name]: value }) === '').toBe(isTaken);
  });

  it.each([
    ['29', 'must be larger than WINDLASS_CLUSTER_HEARTBEAT_INTERVAL_SECS'],
    ['30', 'must be larger than WINDLASS_CLUSTER_HEARTBEAT_INTERVAL_SECS'],
    ['31', /^$/],
  ])('EDGE-TOOL-10 a threshold of %s s beside heartbeats every 30 s', (value, problem) => {
    expect(problemOf({ WINDLASS_STALE_THRESHOLD_SECS: value })).toMatch(problem);
  });

  it('EDGE-FLOW-30 EDGE-FLOW-31 name the role: all but Worker serve edge hosts, and there are no others', () => {
    const serves = (role: string): boolean => servesEdge(readRelayConfig({ ...least, WINDLASS_NODE_ROLE: role }));
    expect(['Controller', 'Hybrid', 'RelayCoordinator', 'Worker'].map(serves)).toEqual([true, true, true, false]);
    for (const role of ['worker', 'Edge', 'Controller ']) {
      expect(problemOf({ WINDLASS_NODE_ROLE: role })).toContain('WINDLASS_NODE_ROLE');
    }
  });
});
