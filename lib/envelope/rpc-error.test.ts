import { describe, expect, it } from 'vitest';
import { AppError } from '../errors.ts';
import { KubeError } from '../kube/index.ts';
import { answeredError, callError } from './rpc-error.ts';

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
    ['a time that is up', new AppError('timeout', 'x'), 500],
  ])('is answered for %s', (_, error, status) => {
    const { options } = callError(error, '1');
    expect(options.status).toBe(status);
    expect(options.cause).toBe(error);
  });

  it('that took too long may have run, and says so', () => {
    expect(callError(new AppError('timeout', 'x'), '1').options.body).toMatchObject({
      error: { code: -32_603, message: expect.stringContaining('may have run'), data: { error: 'OutcomeUnknown' } },
    });
  });

  it('of a new tenant has the sentence that says what to wait for', () => {
    const { body } = callError(refused(403, 'status unknown for quota: q'), '1').options;
    expect(body).toMatchObject({ error: { message: 'a new quota of the tenant is not counted yet; try again' } });
  });
});

describe('what a tool threw', () => {
  it.each([
    ['QuotaExceeded', new AppError('limit_exceeded', 'no room', { reason: 'QuotaExceeded' }), 429, -32_000],
    ['NotReady', new AppError('unavailable', 'not yet', { reason: 'NotReady' }), 503, -32_603],
  ])('is answered with its own sentence for %s', (word, error, status, code) => {
    expect(answeredError(error, '1')?.options).toMatchObject({
      status,
      body: { error: { code, message: error.message, data: { error: word } } },
    });
  });

  it('is nothing of its caller where the service is in trouble', () => {
    for (const error of [new AppError('unavailable', 'x'), new AppError('limit_exceeded', 'x'), new Error('x')])
      expect(answeredError(error, '1')).toBeUndefined();
  });
});
