import { describe, expect, it } from 'vitest';
import { AppError } from '../errors.ts';
import { KubeError } from '../kube/index.ts';
import { callError } from './rpc-error.ts';

const refused = (status: number, message: string): KubeError =>
  new KubeError(status, { message }, { verb: 'create', resource: 'workflowexecutions' });

describe('a signed call', () => {
  it.each([
    ['a quota of a new tenant that is not counted yet', refused(403, 'status unknown for quota: q'), 503],
    ['trouble of the API server', refused(500, 'etcdserver: leader changed'), 503],
    ['a right that we lack everywhere', refused(403, 'no'), 500],
    ['a quota that is full', refused(403, 'exceeded quota: q'), 500],
    ['an error of no known kind', new Error('x'), 500],
    ['a bound of the tenant', new AppError('limit_exceeded', 'x'), 429],
  ])('is answered for %s', (_, error, status) => {
    const { options } = callError(error, '1');
    expect(options.status).toBe(status);
    expect(options.cause).toBe(error);
  });
});
