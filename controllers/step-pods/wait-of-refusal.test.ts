import { expect, it } from 'vitest';
import { KubeError } from '../../lib/kube/index.ts';
import { waitOfRefusal } from './wait-of-refusal.ts';

const refusal = (status: number, message: string) =>
  new KubeError(status, { message }, { verb: 'create', resource: 'pods' });

it.each([
  ['a full quota, in its line', refusal(403, 'exceeded quota: q'), 'QuotaExceeded', true],
  [
    'a quota that is not counted yet, beside any line',
    refusal(403, 'status unknown for quota: q'),
    'QuotaExceeded',
    false,
  ],
  ['a right that is missing', refusal(403, 'User "c" cannot create resource "pods"'), 'Forbidden', false],
])('an object waits for %s', (_for, error, reason, inLine) => {
  expect(waitOfRefusal(error)).toEqual({ reason, message: error.serverMessage, inLine });
});

it.each([refusal(422, 'exceeded quota: q'), refusal(500, 'x'), new Error('exceeded quota: q')])(
  'no object waits for %s',
  (error) => {
    expect(waitOfRefusal(error)).toBeUndefined();
  },
);
