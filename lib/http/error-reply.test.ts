import { describe, expect, it } from 'vitest';
import { AppError, type ErrorCode } from '../errors.ts';
import { KubeError } from '../kube/kube-error.ts';
import { errorForms, toErrorReply } from './error-reply.ts';
import { HttpError } from './http-error.ts';

const want: Readonly<Record<ErrorCode, readonly [number, string]>> = {
  invalid: [400, 'invalid_request'],
  unauthenticated: [401, 'unauthorized'],
  forbidden: [403, 'forbidden'],
  not_found: [404, 'not_found'],
  already_exists: [409, 'already_exists'],
  conflict: [409, 'conflict'],
  gone: [410, 'gone'],
  limit_exceeded: [422, 'limit_exceeded'],
  timeout: [504, 'timeout'],
  unavailable: [503, 'unavailable'],
  cancelled: [503, 'unavailable'],
  terminal: [500, 'internal'],
  wait: [503, 'unavailable'],
  lost_leadership: [500, 'internal'],
  internal: [500, 'internal'],
};

describe('the answer to an error', () => {
  it.each(Object.entries(want))('AMB-023 AMB-024 of code %s has the status and word %j', (code, [status, error]) => {
    const reply = toErrorReply(new AppError(code as ErrorCode, 'text'));
    expect([reply.status, reply.body.error]).toEqual([status, error]);
    expect(Object.keys(errorForms)).toContain(code);
  });

  it.each([new Error('a secret'), new TypeError('a secret'), 'a secret', undefined, { status: 404 }])(
    'of no known kind (%s) is a bland 500',
    (thrown) => {
      const body = {
        error: 'internal',
        code: 'internal',
        message: expect.stringMatching(/^something is wrong with the service/),
      };
      expect(toErrorReply(thrown)).toEqual({ status: 500, headers: {}, body, isFault: true });
    },
  );

  it.each(Object.entries(errorForms).filter(([code]) => code !== 'unauthenticated'))(
    'AMB-023 of code %s says what is wrong, to people too',
    (code, { error, message }) => {
      expect(message).toMatch(/\w{3}/);
      expect(toErrorReply(new HttpError({ code: code as ErrorCode })).body).toEqual({ error, code: error, message });
    },
  );

  it('whose text the specification fixes has one word for programs, and says when it comes as the contract does', () => {
    const contract = {
      access: 'bearer',
      errors: [{ status: 404, error: 'Execution not found', when: 'The tenant has no `execution`.' }],
    } as const;
    const fixed = new HttpError({ code: 'not_found', error: 'Execution not found' });
    expect(toErrorReply(fixed, contract).body).toEqual({
      error: 'Execution not found',
      code: 'execution_not_found',
      message: 'The tenant has no execution.',
    });
    expect(toErrorReply(fixed).body).toEqual({
      error: 'Execution not found',
      code: 'execution_not_found',
      message: errorForms.not_found.message,
    });
    expect(toErrorReply(new AppError('unauthenticated', 'x'), contract).body).toMatchObject({
      error: 'unauthorized',
      code: 'unauthorized',
    });
  });

  it('AMB-024 401 says how to prove who calls', () => {
    const unauthenticated = new AppError('unauthenticated', 'x');
    expect(toErrorReply(unauthenticated, { access: 'bearer', errors: [] }).headers).toEqual({
      'WWW-Authenticate': 'Bearer',
    });
    expect(toErrorReply(unauthenticated, { access: 'signature', errors: [] }).headers).toEqual({
      'WWW-Authenticate': 'Signature',
    });
  });

  it('AMB-057 503 and 429 say when to come back', () => {
    expect(toErrorReply(new AppError('unavailable', 'x')).headers).toEqual({ 'Retry-After': '5' });
    const limited = new HttpError({ code: 'limit_exceeded', status: 429, headers: { 'Retry-After': '7' } });
    expect(toErrorReply(limited).headers).toEqual({ 'Retry-After': '7' });
  });

  it('an internal message stays inside, one for callers is sent', () => {
    for (const code of ['unavailable', 'not_found', 'internal', 'cancelled', 'timeout', 'forbidden', 'gone'] as const) {
      expect(JSON.stringify(toErrorReply(new AppError(code, 'namespace acme at 10.0.0.1')).body)).not.toMatch(
        /acme|10\./,
      );
    }
    expect(toErrorReply(new AppError('invalid', 'input.x is missing')).body).toEqual({
      error: 'invalid_request',
      code: 'invalid_request',
      message: 'input.x is missing',
    });
  });

  it('what the API server denies us is our fault, what it finds invalid is the caller’s', () => {
    const request = { verb: 'create', resource: 'workflows' };
    const of = (status: number) => toErrorReply(new KubeError(status, { message: 'the reason' }, request));
    expect(of(403)).toMatchObject({ status: 500, body: { error: 'internal' }, isFault: true });
    expect(of(401)).toMatchObject({ status: 503, isFault: true });
    expect(of(422)).toMatchObject({ status: 400, body: { error: 'invalid_request', message: 'the reason' } });
    expect(of(409).body).toEqual({ error: 'conflict', code: 'conflict', message: errorForms.conflict.message });
    expect(of(503)).toMatchObject({ status: 503, isFault: true });
    expect(of(409)).toMatchObject({ isFault: false });
  });

  it('a 404 of the API server that no handler expects is logged as well', () => {
    const inner = new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'configmaps' });
    const body = { error: 'not_found', code: 'not_found', message: errorForms.not_found.message };
    expect(toErrorReply(inner)).toEqual({ status: 404, headers: {}, body, isFault: true });
    expect(toErrorReply(new HttpError({ code: 'not_found', cause: inner })).isFault).toBe(false);
    expect(toErrorReply(new AppError('not_found', 'x')).isFault).toBe(false);
  });

  it('what a handler decides is sent as it says', () => {
    const error = new HttpError({
      code: 'already_exists',
      error: 'idempotent_duplicate',
      message: 'seen before',
      details: [{ path: 'body.x', message: 'y' }],
      fields: { original_stimulus_id: 'id' },
      headers: { 'X-A': 'b' },
    });
    expect(toErrorReply(error)).toEqual({
      status: 409,
      headers: { 'X-A': 'b' },
      body: {
        error: 'idempotent_duplicate',
        code: 'idempotent_duplicate',
        message: 'seen before',
        details: [{ path: 'body.x', message: 'y' }],
        original_stimulus_id: 'id',
      },
      isFault: false,
    });
  });

  it('of 5xx is a fault unless a handler has decided it without a cause', () => {
    expect(toErrorReply(new HttpError({ code: 'unavailable', status: 501 })).isFault).toBe(false);
    expect(toErrorReply(new AppError('cancelled', 'x')).isFault).toBe(false);
    expect(toErrorReply(new HttpError({ code: 'unavailable', cause: new Error('x') })).isFault).toBe(true);
  });
});
