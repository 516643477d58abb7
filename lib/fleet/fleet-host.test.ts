import { expect, it } from 'vitest';
import { aHost } from '../../test/builders/edge-builder.ts';
import { fleetHostOf } from './fleet-host.ts';

it('EDGE-RES-18 a label of operators counts before one of the daemon, and what every object has is no label', () => {
  const host = fleetHostOf(aHost(1, { labels: { rack: '7' } }));
  expect(['rack', 'zone', 'constructor', 'other'].map(host.label)).toEqual(['7', 'a', undefined, undefined]);
  expect(fleetHostOf(aHost(1, { labels: { zone: 'b' } })).label('zone')).toBe('b');
  const { status: _status, ...unconnected } = aHost(1);
  expect(fleetHostOf(unconnected).label('zone')).toBeUndefined();
});
