import { describe, expect, it } from 'vitest';
import { HttpError } from '../../../lib/http/http-error.ts';
import { KubeError, type KubeStatus } from '../../../lib/kube/index.ts';
import { asRefusal } from './kube-refusal.ts';

const request = { verb: 'create', resource: 'workflows.windlass.dev' };
const kube = (status: number, body: KubeStatus) => new KubeError(status, body, request);
const optionsOf = (error: unknown) => {
  const refusal = asRefusal(error);
  if (!(refusal instanceof HttpError)) throw new Error('it is no answer');
  return refusal.options;
};
const policy =
  "workflows.windlass.dev \"x\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: ";

describe('what the API server holds against a workflow', () => {
  it('AMB-054 names the fields, in the form of the manifest', () => {
    const causes = [
      { field: 'spec.version', message: 'Invalid value: "x"' },
      { field: 'spec.states.a.timeout', message: 'Too long' },
      { field: 'spec.input_schema.type', message: 'Unsupported value' },
      { field: 'spec.versions', message: 'unknown field' },
    ];
    expect(optionsOf(kube(422, { reason: 'Invalid', message: 'it is invalid', details: { causes } }))).toMatchObject({
      error: 'invalid_manifest',
      message: 'metadata.version: Invalid value: "x", and 3 more',
      details: [
        { path: 'metadata.version', message: 'Invalid value: "x"' },
        { path: 'spec.states.a.timeout', message: 'Too long' },
        { path: 'metadata.input_schema.type', message: 'Unsupported value' },
        { path: 'spec.versions', message: 'unknown field' },
      ],
    });
  });

  it.each([
    ['a path', `${policy}spec.states.a: the name is reserved`, 'spec.states.a', 'the name is reserved'],
    [
      'a path with an index',
      `${policy}spec.states.a.transitions[0].target: 'b' is not`,
      'spec.states.a.transitions[0].target',
      "'b' is not",
    ],
    ['a path of the manifest', `${policy}spec.version: 1.0.0 exists`, 'metadata.version', '1.0.0 exists'],
    ['no path', `${policy}not on Fridays`, '', 'not on Fridays'],
  ])('AMB-054 takes %s from the message of an admission policy', (_title, message, path, text) => {
    for (const status of [403, 422]) {
      expect(optionsOf(kube(status, { message })).details).toEqual([{ path, message: text }]);
    }
  });

  it('AMB-054 takes the words of a webhook as those of a policy', () => {
    const message = 'admission webhook "rules.example.com" denied the request: not on Fridays';
    expect(optionsOf(kube(403, { message })).details).toEqual([{ path: '', message: 'not on Fridays' }]);
  });

  it.each([
    [
      'too large for the server',
      kube(413, { message: 'Request entity too large' }),
      { status: 413, error: 'payload_too_large' },
    ],
    ['too large for its store', kube(500, { message: 'etcdserver: request is too large' }), { status: 413 }],
    [
      'too large for the way to its store, where `<` has six bytes',
      kube(500, { message: 'rpc error: code = ResourceExhausted desc = trying to send message larger than max' }),
      { status: 413, error: 'payload_too_large' },
    ],
    [
      'a namespace that is not there',
      kube(404, { message: 'namespaces "x" not found' }),
      { code: 'not_found', error: 'Tenant not found' },
    ],
    [
      'a quota',
      kube(403, {
        message: 'workflows.windlass.dev "x" is forbidden: exceeded quota: q, requested: 1, used: 1, limited: 1',
      }),
      {
        code: 'limit_exceeded',
        message: 'exceeded quota: q, requested: 1, used: 1, limited: 1; delete what is no longer needed',
      },
    ],
    [
      'a namespace in Terminating',
      kube(403, { message: 'unable to create new content in namespace x because it is being terminated' }),
      { code: 'not_found', error: 'Tenant not found' },
    ],
  ])('AMB-054 is answered as what it is: %s', (_title, error, want) => {
    expect(optionsOf(error)).toMatchObject(want);
  });

  it.each([
    ['a right that we lack', kube(403, { message: 'User "api" cannot create resource "workflows"' })],
    ['a revision that is gone', kube(404, { message: 'controllerrevisions.apps "x" not found' })],
    ['a server without our kinds', kube(404, { message: 'the server could not find the requested resource' })],
    ['a server in trouble', kube(500, { message: 'leader changed' })],
    ['overload', kube(429, { message: 'slow down' })],
    ['a defect', new TypeError('x')],
  ])('is nothing of the caller: %s', (_title, error) => {
    expect(asRefusal(error)).toBe(error);
  });
});
