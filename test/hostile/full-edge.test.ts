import { describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import { type EdgeGroup, EdgeGroupSpec } from '../../crds/schema/edge-group.ts';
import { type EdgeHost, edgeHostRules, EdgeHostSpec } from '../../crds/schema/edge-host.ts';
import { type FleetRun, FleetRunSpec } from '../../crds/schema/fleet-run.ts';
import { factsLength } from '../../lib/edge/index.ts';
import { slimEdgeGroup } from '../../lib/edge/slim-edge-group.ts';
import { slimEdgeHost } from '../../lib/edge/slim-edge-host.ts';
import { slimFleetRun } from '../../lib/fleet/slim-fleet-run.ts';
import { heapBytes } from '../../lib/heap-bytes.ts';
import { cachedTable } from '../../lib/memory-budget/index.ts';
import { capabilitiesOf } from '../../relay/streams/outcome-of.ts';
import { aHost } from '../builders/edge-builder.ts';
import { fullest } from './support/fullest.ts';
import { keptBytes, keptBytesOf } from './support/kept-bytes.ts';

/**
 * The attacker is an administrator of one tenant and may create objects of edge mode by kubectl, as many as its quota takes, each
 * with as much in its fields as the kind permits. Every replica of the API and of the controllers keeps a version of all of them.
 */
const kibibyte = 1_024;
const mebibyte = 1_048_576;
const metadata = { name: 'x', namespace: 'tenant-a', uid: '00000000-0000-4000-8000-00000000000a' };
const apiVersion = 'windlass.dev/v1';
/** The API server bounds no name of a label: one object takes 1.5 MiB. */
const longName = 'ā'.padEnd(200_000, 'x');

describe('500 groups, the quota of one tenant', () => {
  const spec = fullest(EdgeGroupSpec, undefined) as EdgeGroup['spec'];
  const selector = { labels: [{ Equals: { [longName]: '' } }] };

  it.each<[string, EdgeGroup['spec']]>([
    ['with every field at its limit', spec],
    ['with a long name of a label', { name: spec.name, selector }],
    ['of 4 KiB each', { name: 'g', pinned_members: Array.from({ length: 30 }, () => 'x'.repeat(64)) }],
  ])('%s take what the table of caches says, at most', (_title, wanted) => {
    const group: EdgeGroup = { apiVersion, kind: 'EdgeGroup', metadata, spec: wanted };
    expect(keptBytes(500, group, slimEdgeGroup)).toBeLessThan(500 * cachedTable.EdgeGroup.kibibytes.api * kibibyte);
  });
});

describe('5,000 fleet runs, the quota of one tenant', () => {
  const { policy: _policy, ...spec } = fullest(FleetRunSpec, { a: longName }) as FleetRun['spec'];

  it.each<[string, FleetRun['spec']]>([
    ['with every field at its limit', spec],
    ['with a long name of a label', { ...spec, target: { Selector: { labels: [{ Equals: { [longName]: '' } }] } } }],
  ])('%s take what the table says, at most', (_title, wanted) => {
    const run: FleetRun = { apiVersion, kind: 'FleetRun', metadata, spec: wanted };
    expect(keptBytes(1_000, run, slimFleetRun)).toBeLessThan(1_000 * cachedTable.FleetRun.kibibytes.api * kibibyte);
  });
});

describe('10,000 hosts, the quota of one tenant', () => {
  const rule = edgeHostRules.map(({ rule: text }) => text).find((text) => text.includes('self.tags')) ?? '';
  const fields = fullest(EdgeHostSpec, undefined) as EdgeHost['spec'];
  const free = Object.entries(fields).filter(([field]) => !rule.includes(`self.${field}`));

  it('have no field of much text that the rule of the API server leaves out', () => {
    expect(rule.endsWith(` <= ${limits.edgeTextsLength}`)).toBe(true);
    expect(heapBytes(Object.fromEntries(free), mebibyte)).toBeLessThan(2_048);
  });

  it.each([
    ['one long label', 1],
    ['as many labels as there may be', limits.edgeLabels],
  ])('with %s take 128 MiB at most', (_title, count) => {
    const length = Math.floor(limits.edgeTextsLength / count) - limits.edgeTextCharge;
    const labels = Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`ā${at}`.padEnd(length, 'x').slice(0, length), '']),
    );
    const spec = { ...Object.fromEntries(free), labels };
    const host: EdgeHost = { apiVersion, kind: 'EdgeHost', metadata, spec };
    expect(keptBytes(1_000, host, slimEdgeHost) * 10).toBeLessThan(128 * mebibyte);
  });
});

describe('10,000 hosts whose daemons report as much as the relay takes', () => {
  const { os, arch } = { os: 'ā'.repeat(63), arch: 'ā'.repeat(63) };
  const { edgeFactsLength: most, edgeToolCharge, edgeTextCharge, edgeLocalTools, edgeLabels } = limits;
  const text = (at: number, length: number): string => `ā${at}`.padEnd(length, 'x').slice(0, length);
  const mountPoints = Array.from({ length: 6 }, (_, at) => text(at, 1_024));

  it.each<[string, number, number]>([
    ['a few long tools', 15, 0],
    ['as many tools as there may be', edgeLocalTools, 0],
    ['as many labels as there may be', 0, edgeLabels],
    ['many tools and labels', 128, 48],
  ])('take 160 MiB at most, with %s, each host with names of its own', (_title, tools, labels) => {
    const length = Math.floor((most - tools * edgeToolCharge - labels * edgeTextCharge) / (tools + labels));
    const facts = {
      os,
      arch,
      localTools: Array.from({ length: tools }, (_, at) => text(at, Math.min(253, length))),
      mountPoints,
      customLabels: Object.fromEntries(Array.from({ length: labels }, (_, at) => [text(at, length), ''])),
      commandTimeout: undefined,
    };
    const status = { ...aHost(1).status, capabilities: capabilitiesOf(facts) } as EdgeHost['status'];
    const json = JSON.stringify({ apiVersion, kind: 'EdgeHost', metadata, spec: {}, status });
    const textOf = (index: number): string => json.replaceAll('ā', String.fromCodePoint(0x3000 + index));
    expect(keptBytesOf<EdgeHost>(1_000, textOf, slimEdgeHost) * 10).toBeLessThan(160 * mebibyte);
  });

  it('have in the table of caches what operators and daemons write of them together', () => {
    const { count, kibibytes } = cachedTable.EdgeHost;
    expect(count * kibibytes.api * kibibyte).toBeGreaterThanOrEqual((128 + 160) * mebibyte);
  });

  it('EDGE-RES-09 keep no more of a longer report, whose labels count before its first tools, and which is not refused', () => {
    const localTools = Array.from({ length: 20 }, (_, at) => text(at, 128));
    const names = ['c', 'a', 'b'].map((name) => name.padEnd(200, 'x'));
    const report = (labels: readonly string[]) => {
      const customLabels = Object.fromEntries(labels.map((name) => [name, 'v'.repeat(256)]));
      return capabilitiesOf({ os, arch, localTools, mountPoints: [], customLabels, commandTimeout: undefined });
    };
    const kept = report(names);
    expect(kept.local_tools).toEqual(localTools.slice(0, 19));
    expect(Object.keys(kept.labels)).toEqual([names[1], names[2], names[0]]);
    expect(kept.facts_left_out).toBe(1);
    expect(report(names.toReversed())).toEqual(kept);
    expect(factsLength(kept)).toBeLessThanOrEqual(most);
    expect(report([])).not.toHaveProperty('facts_left_out');
    const all = { os, arch, localTools: Array.from({ length: 40 }, (_, at) => text(at, 128)), mountPoints: [] };
    const cut = capabilitiesOf({ ...all, customLabels: { zone: 'a' }, commandTimeout: undefined });
    expect([cut.local_tools.length, cut.labels, cut.facts_left_out]).toEqual([29, { zone: 'a' }, 11]);
  });
});
