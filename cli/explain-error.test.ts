import { describe, expect, it } from 'vitest';
import { WindlassApiError, WindlassConnectionError } from '../client/api-error.ts';
import { AppError } from '../lib/errors.ts';
import { ExecutionError } from '../lib/execution/execution-error.ts';
import { KubeError } from '../lib/kube/kube-error.ts';
import { anExecution } from '../test/builders/execution-builder.ts';
import { CliError, exitCodes, exitMeanings } from './exit-codes.ts';
import { explainError } from './explain-error.ts';

const request = { verb: 'get', resource: 'workflows.windlass.dev' };
const execution = anExecution().build();
const kube = (status: number, message: string, reason?: string) => new KubeError(status, { message, reason }, request);

const details = [{ path: 'body.x', message: 'is unknown' }];
const api = (status: number, error: string, message?: string, headers: Record<string, string> = {}) =>
  new WindlassApiError(status, { error, message, details: status === 400 ? details : [] }, new Headers(headers));
const refused = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
const lost = new WindlassConnectionError('x cannot be reached', { cause: refused });
const brokenOff = new WindlassConnectionError('x broke the connection before it answered', { mayHaveRun: true });
const unknown = new TypeError('fetch failed', { cause: new Error('self-signed certificate; see Node') });
const distrusted = new WindlassConnectionError('x cannot be reached', { cause: unknown });

describe('an error on the command line', () => {
  it('says a refusal for one field once, and another one with its places', () => {
    const one = api(400, 'invalid_request', 'body.x is unknown');
    expect(explainError(one).lines).toEqual(['error: body.x is unknown']);
    const other = api(400, 'invalid_request', 'the request is not valid');
    expect(explainError(other).lines).toEqual(['error: the request is not valid', '  body.x: is unknown']);
  });

  it.each<[title: string, error: unknown, exitCode: number, want: RegExp]>([
    ['an object that is not there', kube(404, 'x "y" not found', 'NotFound'), 3, /^error: x "y" not found$/],
    [
      'a cluster without our kinds',
      kube(404, 'the server could not find the requested resource'),
      7,
      /has no Windlass/,
    ],
    ['the same from an older server', kube(404, '404 page not found\n'), 7, /Install the chart/],
    ['credentials that are refused', kube(401, 'Unauthorized'), 7, /Log in again/],
    ['a right that is missing', kube(403, 'workflows is forbidden'), 7, /windlass-operator/],
    ['a quota that is not counted', kube(403, 'x is forbidden: status unknown for quota: q'), 7, /again in a minute/],
    ['a quota that is used up', kube(403, 'x is forbidden: exceeded quota: q'), 7, /describe resourcequota/],
    ['a policy', kube(403, "x is forbidden: ValidatingAdmissionPolicy 'p' denied request: no"), 7, /request: no$/],
    ['a name that is taken', kube(409, 'x already exists', 'AlreadyExists'), 4, /--name/],
    ['another caller was first', kube(409, 'modified', 'Conflict'), 4, /error: modified/],
    ['an object that admission refuses', kube(422, 'spec.input is immutable', 'Invalid'), 2, /immutable/],
    ['a server in trouble', kube(500, 'etcd: leader changed'), 7, /readyz/],
    ['no answer', new AppError('unavailable', 'connection refused'), 7, /cluster-info/],
    ['no kubeconfig', new AppError('invalid', 'no access', { reason: 'KubeconfigMissing' }), 7, /KUBECONFIG/],
    ['nothing waits', new ExecutionError('NotWaiting', execution, 'x'), 4, /windlass get demo-1 -n /],
    ['another state', new ExecutionError('WaitsElsewhere', execution, 'x', { waiting: 'ask' }), 4, /--state ask/],
    ['another user was first', new ExecutionError('AlreadyDecided', execution, 'x'), 4, /does now: windlass get/],
    ['it has ended', new ExecutionError('AlreadyFinished', execution, 'x'), 4, /output: windlass get/],
    ['it was deleted', new ExecutionError('Deleted', execution, 'x'), 3, /windlass list/],
    ['no such log', new ExecutionError('NoSuchLog', execution, 'x', { known: ['a', 'b'] }), 3, /There are: a, b\./],
    ['no log at all', new ExecutionError('NoSuchLog', execution, 'x'), 3, /See what it does/],
    ['no bucket', new AppError('invalid', 'x', { reason: 'OutputStoreNotConfigured' }), 2, /WINDLASS_S3_BUCKET/],
    ['a version that is taken', new AppError('conflict', 'taken', { reason: 'VersionExists' }), 4, /--force/],
    ['a path behind the API', api(404, 'not_found', 'there is nothing at this path'), 7, /address of the API/],
    ['a server that is not ours', api(404, 'http_404'), 7, /address of the API/],
    [
      'a cluster whose certificate no known authority signed',
      new AppError('unavailable', 'unable to verify the first certificate; if the root CA is installed, try Node'),
      7,
      /certificate\nPut its authority into the kubeconfig/,
    ],
    ['a token that the API refuses', api(401, 'unauthorized'), 7, /windlass login --server URL$/],
    ['a right that the API misses', api(403, 'forbidden'), 7, /windlass whoami --server URL$/],
    ['what the API does not have', api(404, 'Version not found', 'it has 1.0.0'), 3, /^error: it has 1\.0\.0$/],
    ['what the API has already', api(409, 'already_exists'), 4, /--name/],
    ['a body that the API refuses', api(400, 'invalid_request', 'see details'), 2, /\n {2}body\.x: is unknown$/],
    ['too much for the API', api(429, 'rate_limited', undefined, { 'retry-after': '7' }), 7, /Try again in 7 s\.$/],
    ['an API in trouble', api(500, 'internal', undefined, { 'x-request-id': 'r-1' }), 7, /about request r-1\.$/],
    [
      'a write without an answer',
      brokenOff,
      7,
      /^error: x broke[^]*\nIt was sent, so it may have been done\. Look before/,
    ],
    ['an API that is away', lost, 7, /^error: x cannot be reached\n {2}connect ECONNREFUSED\nIs the server up/],
    ['an unknown certificate', distrusted, 7, /self-signed certificate\nIf its authority is your own/],
    ['a defect of ours', new TypeError('x is undefined\n    at y'), 10, /^error: x is undefined\nThis is a defect/],
  ])('%s', (_title, error, exitCode, want) => {
    const { lines, exitCode: code } = explainError(error, ' --server URL');
    expect(code).toBe(exitCode);
    expect(lines.join('\n')).toMatch(want);
  });

  it.each([
    ['', ` -n ${execution.metadata.namespace}`],
    [' --context prod', ` -n ${execution.metadata.namespace} --context prod`],
    [' --context prod --namespace team-a', ' --context prod --namespace team-a'],
  ])('given%s leads on to where the command looked', (flags, want) => {
    const error = new ExecutionError('NotWaiting', execution, 'x');
    expect(explainError(error, flags).lines.at(-1)).toBe(`See what it does: windlass get demo-1${want}`);
  });

  it('says what is wrong on the first line, the facts below it, and last what to do', () => {
    const error = new CliError('usage', 'the input does not fit', 'Give the keys.', ['input.a: is required']);
    expect(explainError(error)).toEqual({
      lines: ['error: the input does not fit', '  input.a: is required', 'Give the keys.'],
      exitCode: 2,
    });
  });

  it('never shows a stack', () => {
    for (const error of [new Error('boom'), new CliError('usage', 'x'), 'text', undefined]) {
      expect(explainError(error).lines.join('\n')).not.toMatch(/\bat .*:\d+:\d+/);
    }
  });
});

describe('exit codes', () => {
  it('are all different, and each has its meaning', () => {
    const codes = Object.values(exitCodes);
    expect(new Set(codes).size).toBe(codes.length);
    expect(Object.keys(exitMeanings)).toEqual(Object.keys(exitCodes));
  });
});
