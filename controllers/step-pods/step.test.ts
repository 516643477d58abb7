import { describe, expect, it } from 'vitest';
import { apiVersion, labels } from '../../crds/labels.ts';
import type { Pod } from '../../lib/kube/index.ts';
import { labelValue } from '../../lib/pod-slot.ts';
import { ownedBy, ownerKey, podOwner } from './step.ts';

const aReference = (kind: string, name: string) => ({ apiVersion, kind, name, uid: 'u', controller: true });
const aPod = (found: Record<string, string>, ...ownerReferences: ReturnType<typeof aReference>[]): Pod => ({
  metadata: { name: 'p', namespace: 'a', labels: found, ownerReferences },
  spec: { containers: [] },
});

describe('the owner of a pod', () => {
  it.each([
    ['WorkflowExecution', labels.execution],
    ['AgentExecution', labels.agentExecution],
    ['GitBinding', labels.gitBinding],
  ])('is the %s that its label names, whatever reference a stranger has put on it', (kind, label) => {
    const swapped = [aReference(kind, 'another'), aReference('ReplicaSet', 'x')];
    for (const reference of swapped) {
      const pod = aPod({ [label]: 'x' }, reference);
      expect(podOwner(pod)).toEqual({ kind, key: 'a/x' });
      expect(ownerKey(pod, kind)).toBe('a/x');
    }
  });

  it.each([62, 63, 64, 253])(
    'is the one with the whole name, of %i characters, behind a label that is a hash of it',
    (length) => {
      const name = 'n'.repeat(length);
      const pod = aPod({ [labels.execution]: labelValue(name) }, aReference('WorkflowExecution', name));
      expect(podOwner(pod)).toEqual({ kind: 'WorkflowExecution', key: `a/${name}` });
    },
  );

  it('of one kind is none of another kind with the same name', () => {
    expect(ownerKey(aPod({ [labels.agentExecution]: 'x' }), 'WorkflowExecution')).toBeUndefined();
    expect(ownedBy('Agent', 'a/x')).not.toBe(ownedBy('WorkflowExecution', 'a/x'));
  });

  it('is found by its label where a deletion has orphaned the pod', () => {
    expect(podOwner(aPod({ [labels.execution]: 'x' }))).toEqual({ kind: 'WorkflowExecution', key: 'a/x' });
  });

  it('is absent for a pod without a label of ours', () => {
    expect(podOwner(aPod({}))).toBeUndefined();
    expect(podOwner(aPod({}, aReference('WorkflowExecution', 'x')))).toBeUndefined();
  });
});
