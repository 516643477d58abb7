import { describe, expect, it } from 'vitest';
import { labels } from '../../crds/labels.ts';
import type { Pod } from '../../lib/kube/index.ts';
import { ownedBy, ownerKey, podOwner } from './step.ts';

const aPod = (kind?: string, found: Record<string, string> = {}): Pod => ({
  metadata: {
    name: 'p',
    namespace: 'a',
    labels: found,
    ...(kind === undefined
      ? {}
      : { ownerReferences: [{ apiVersion: 'v1', kind, name: 'x', uid: 'u', controller: true }] }),
  },
  spec: { containers: [] },
});

describe('the owner of a pod', () => {
  it('is its controller, of whatever kind', () => {
    expect(podOwner(aPod('Agent'))).toEqual({ kind: 'Agent', key: 'a/x' });
    expect(ownerKey(aPod('Agent'), 'Agent')).toBe('a/x');
  });

  it('of one kind is none of another kind with the same name', () => {
    expect(ownerKey(aPod('Agent'), 'WorkflowExecution')).toBeUndefined();
    expect(ownedBy('Agent', 'a/x')).not.toBe(ownedBy('WorkflowExecution', 'a/x'));
  });

  it('is found by its label where a deletion has orphaned the pod', () => {
    const orphan = aPod(undefined, { [labels.execution]: 'x' });
    expect(podOwner(orphan)).toEqual({ kind: 'WorkflowExecution', key: 'a/x' });
  });

  it('is absent for a pod with neither', () => {
    expect(podOwner(aPod())).toBeUndefined();
  });
});
