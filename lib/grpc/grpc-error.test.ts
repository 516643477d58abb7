import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { AppError, type ErrorCode } from '../errors.ts';
import { GrpcError, statusOfCode, toGrpcFailure } from './grpc-error.ts';

describe('errors in gRPC', () => {
  it.each(Object.entries(statusOfCode))('%s is a status of its own that is no success', (word, code) => {
    const failure = toGrpcFailure(new AppError(word as ErrorCode, 'a message'));
    expect(failure.code).toBe(code);
    expect(code).not.toBe(status.OK);
    expect(status[code]).toBeTypeOf('string');
  });

  it.each<[title: string, error: unknown, details: string]>([
    ['an invalid request is explained', new AppError('invalid', 'source must match'), 'source must match'],
    ['what is inside of us is not', new AppError('internal', 'password of the database'), 'internal'],
    ['nor what another server said', new AppError('unavailable', 'connect ECONNREFUSED 10.0.0.1'), 'unavailable'],
    ['nor what is unknown', new Error('undefined is not a function'), 'internal'],
    ['nor what is no error', 'a string', 'internal'],
    ['the own message of a handler is passed on', new GrpcError('internal', 'no such workflow'), 'no such workflow'],
  ])('%s', (_title, error, details) => {
    expect(toGrpcFailure(error).details).toBe(details);
  });

  it('take the status and metadata that a handler names', () => {
    const error = new GrpcError('already_exists', 'again', {
      status: status.ALREADY_EXISTS,
      metadata: { 'original-stimulus-id': 'one' },
    });
    const { code, metadata } = toGrpcFailure(error);
    expect(code).toBe(status.ALREADY_EXISTS);
    expect(metadata.getMap()).toEqual({ 'original-stimulus-id': 'one' });
  });

  it('that pass say when to call again', () => {
    expect(toGrpcFailure(new AppError('unavailable', 'x')).metadata.getMap()).toEqual({
      'grpc-retry-pushback-ms': '5000',
    });
    expect(toGrpcFailure(new AppError('invalid', 'x')).metadata.getMap()).toEqual({});
  });

  it.each<[title: string, error: unknown, isFault: boolean]>([
    ['an unknown error', new Error('x'), true],
    ['an internal one', new AppError('internal', 'x'), true],
    ['an answer that a handler decided', new GrpcError('internal', 'x'), false],
    ['such an answer with a cause', new GrpcError('internal', 'x', { cause: new Error('y') }), true],
    ['an invalid request', new AppError('invalid', 'x'), false],
    ['another server that is away', new AppError('unavailable', 'x'), false],
  ])('%s is a fault of ours: %s', (_title, error, isFault) => {
    expect(toGrpcFailure(error).isFault).toBe(isFault);
  });
});
