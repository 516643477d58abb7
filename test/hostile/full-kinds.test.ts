import { describe, expect, it } from 'vitest';
import { volumeIndexes } from '../../controllers/volume/informers.ts';
import { limits } from '../../crds/limits.ts';
import { type GitBinding, GitBindingSpec } from '../../crds/schema/git-binding.ts';
import { type StimulusRouter, StimulusRouterSpec } from '../../crds/schema/stimulus-router.ts';
import { type Volume, VolumeSpec } from '../../crds/schema/volume.ts';
import { workflowSourcePattern } from '../../crds/stimulus-source.ts';
import { stripStrangers } from '../../lib/informer/index.ts';
import { claimKeysOf } from '../../lib/stimulus/claims.ts';
import { fullest } from './support/fullest.ts';
import { keptBytes } from './support/kept-bytes.ts';

/**
 * The attacker may create objects in one namespace, as many as its quota takes, each with as much in its fields as the kind
 * permits. Caches keep these kinds whole, so that the bounds of their fields are what bounds them.
 */
const mebibyte = 1_048_576;
const apiVersion = 'windlass.dev/v1';
const metadata = { name: 'x', namespace: 'tenant-a' };

describe('the quota of one tenant, of kinds that caches keep whole', () => {
  it('of 200 routers takes the API and the controllers 32 MiB at most each', () => {
    const fields = fullest(StimulusRouterSpec, undefined) as StimulusRouter['spec'];
    const target = Object.values(fields.routes ?? {})[0] ?? '';
    expect(target).toHaveLength(limits.objectNameLength);
    const sources = Array.from({ length: limits.mapEntries }, (_, at) => `workflow:${`a${at}`.padEnd(253, 'x')}`);
    for (const source of sources) expect(source).toMatch(new RegExp(workflowSourcePattern));
    const spec = { ...fields, routes: Object.fromEntries(sources.map((source) => [source, target])) };
    const router: StimulusRouter = { apiVersion, kind: 'StimulusRouter', metadata, spec };
    expect(keptBytes(200, router, stripStrangers, { source: claimKeysOf })).toBeLessThan(32 * mebibyte);
  });

  it('of 500 volumes takes the controllers 2 MiB at most', () => {
    const spec = fullest(VolumeSpec, undefined) as Volume['spec'];
    const volume: Volume = { apiVersion, kind: 'Volume', metadata, spec };
    expect(keptBytes(500, volume, stripStrangers, volumeIndexes)).toBeLessThan(2 * mebibyte);
  });

  it('of 100 git bindings takes the controllers 5 MiB at most', () => {
    const spec = fullest(GitBindingSpec, undefined) as GitBinding['spec'];
    const binding: GitBinding = { apiVersion, kind: 'GitBinding', metadata, spec };
    expect(keptBytes(100, binding, stripStrangers)).toBeLessThan(5 * mebibyte);
  });
});
