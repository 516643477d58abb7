import { describe, expect, it } from 'vitest';
import { captureFinalizer } from '../../crds/labels.ts';
import type { Pod } from '../../lib/kube/index.ts';
import { isDone } from './release-claim.ts';

const aPod = (phase: string, metadata: Partial<Pod['metadata']> = {}): Pod =>
  ({
    metadata: { name: 'step', namespace: 'tenant', ...metadata },
    spec: { containers: [] },
    status: { phase },
  }) as Pod;

describe('WF-STOR-11 a pod may go with the claim that it mounts', () => {
  it.each<[title: string, pod: Pod, done: boolean]>([
    ['when its command has succeeded', aPod('Succeeded'), true],
    ['when its command has failed', aPod('Failed'), true],
    ['not while it waits', aPod('Pending'), false],
    ['not while it runs', aPod('Running'), false],
    ['not when its node says nothing', aPod('Unknown'), false],
    ['not before its output is stored', aPod('Succeeded', { finalizers: [captureFinalizer] }), false],
    ['not twice', aPod('Succeeded', { deletionTimestamp: '2026-01-02T03:04:05Z' }), false],
  ])('%s', (_title, pod, done) => {
    expect(isDone(pod)).toBe(done);
  });
});
