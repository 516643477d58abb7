import { describe, expect, it } from 'vitest';
import { AppError } from '../errors.ts';
import { KubeError, mayPass } from './kube-error.ts';

const refusal = (status: number, reason: string, message: string): KubeError =>
  new KubeError(status, { reason, message }, { verb: 'create', resource: 'agentexecutions' });

const noRight =
  'agentexecutions.windlass.dev is forbidden: User "system:serviceaccount:windlass:api" cannot create resource "agentexecutions" in API group "windlass.dev" in the namespace "acme"';

describe('a request that failed may succeed later', () => {
  it.each<[string, unknown, boolean]>([
    ['where the server has trouble', refusal(503, 'ServiceUnavailable', 'away'), true],
    ['where no server answers', new AppError('unavailable', 'connection refused'), true],
    ['where the server does not know who asks', refusal(401, 'Unauthorized', 'Unauthorized'), true],
    ['where our account lacks a right', refusal(403, 'Forbidden', noRight), true],
    ['where a proxy answers', refusal(422, 'Http422', 'HTTP 422'), true],
    ['where another client wrote in between', refusal(409, 'Conflict', 'the object has been modified'), true],
    ['but not where the object is invalid', refusal(422, 'Invalid', 'spec.agent: Required value'), false],
    [
      'but not where a webhook denies it',
      refusal(403, 'Forbidden', 'admission webhook "w" denied the request: no'),
      false,
    ],
    ['but not where it is too large', refusal(413, 'RequestEntityTooLarge', 'too large'), false],
    [
      'but not where a quota is full',
      refusal(403, 'Forbidden', 'agentexecutions "a" is forbidden: exceeded quota: q'),
      false,
    ],
    [
      'but not where the namespace ends',
      refusal(403, 'Forbidden', 'unable to create new content in namespace acme because it is being terminated'),
      false,
    ],
    ['but not where the namespace is gone', refusal(404, 'NotFound', 'namespaces "acme" not found'), false],
    ['but not after a bug of our own', new TypeError('x is not a function'), false],
  ])('%s', (_sentence, error, want) => {
    expect(mayPass(error)).toBe(want);
  });
});
