import { expect, it } from 'vitest';
import { KubeError } from '../../lib/kube/index.ts';
import type { Action } from './engine/decision.ts';
import { actionRefusal } from './action-refusal.ts';

const create = { kind: 'create_tool_call', name: 'c-1', spec: {} } as unknown as Action;
const error = (status: number, message: string) =>
  new KubeError(status, { message }, { verb: 'create', resource: 'toolcalls' });

it.each([
  ['of etcd, that an object is too large', error(500, 'etcdserver: request is too large'), 'Refused'],
  ['of the way to etcd', error(500, 'rpc error: trying to send message larger than max (3 vs. 2)'), 'Refused'],
  ['of the API server', error(413, 'limit is 3145728'), 'Refused'],
  ['of validation', error(422, 'spec.tool'), 'Refused'],
  ['of a quota', error(403, 'exceeded quota: q'), 'QuotaExceeded'],
  ['of a quota that is not counted yet', error(403, 'status unknown for quota: q'), 'QuotaExceeded'],
  ['of a right', error(403, 'no right'), 'Forbidden'],
  ['of a server in trouble', error(500, 'etcdserver: leader changed'), undefined],
  ['of no server', new Error('request is too large'), undefined],
])('the word %s is a definite refusal: %s', (_whose, thrown, reason) => {
  const refusal = actionRefusal({ action: create, error: thrown });
  expect([refusal?.reason, refusal?.child]).toEqual([reason, reason === 'Refused' ? 'c-1' : undefined]);
});

it('the refusal of another action than a create names no child', () => {
  const cancel = { kind: 'cancel_child', name: 'c-0', uid: 'u', reason: 'r' } as unknown as Action;
  const refused = actionRefusal({ action: cancel, error: error(422, 'spec.cancel') });
  expect(refused).toMatchObject({ reason: 'Refused' });
  expect(refused?.child).toBeUndefined();
});
