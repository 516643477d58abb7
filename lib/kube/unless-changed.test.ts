import { describe, expect, it } from 'vitest';
import { KubeError } from './kube-error.ts';
import { unlessChanged } from './unless-changed.ts';

const refused = (status: number, message: string, reason = '', causes: readonly { field: string }[] = []): KubeError =>
  new KubeError(status, { message, reason, details: { causes } }, { verb: 'patch', resource: 'pods' });

describe('a write to what was read before', () => {
  it.each([
    ['an object that is gone', refused(404, 'pods "p" not found', 'NotFound')],
    ['another version, or another object of the name', refused(409, 'the object has been modified', 'Conflict')],
    ['a test that does not hold', refused(422, 'the server rejected our request due to an error in our request')],
  ])('is done where it meets %s', async (_title, error) => {
    await expect(unlessChanged(Promise.reject(error))).resolves.toBeUndefined();
  });

  it.each([
    ['an admission policy', refused(422, 'admission webhook "w" denied the request: not on Fridays')],
    ['a rule of the kind', refused(422, 'Pod "p" is invalid: spec: wrong', 'Invalid', [{ field: 'spec' }])],
    ['a request that the server does not understand', refused(400, 'json: cannot unmarshal')],
    [
      'a race for a quota',
      refused(409, 'Operation cannot be fulfilled on resourcequotas "windlass": changed', 'Conflict'),
    ],
    ['a proxy in place of the server', refused(404, '404 page not found')],
    ['a server in trouble', refused(503, 'etcd is away')],
  ])('is not done where it meets %s', async (_title, error) => {
    await expect(unlessChanged(Promise.reject(error))).rejects.toBe(error);
  });
});
