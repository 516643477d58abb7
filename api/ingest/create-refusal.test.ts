import { describe, expect, it } from 'vitest';
import { AppError } from '../../lib/errors.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { creationRefusal } from './create-refusal.ts';

const refused = (status: number, message: string, reason = ''): KubeError =>
  new KubeError(status, { message, reason }, { verb: 'create', resource: 'workflowexecutions' });

describe('refusalOf', () => {
  it.each<[title: string, error: unknown, want: { code: string; reason: string; message: RegExp }]>([
    [
      'an admission rule',
      refused(422, 'spec.intent: Too long'),
      { code: 'internal', reason: 'workflow_error', message: /spec.intent: Too long/ },
    ],
    [
      'a bad request',
      refused(400, 'strict decoding error'),
      { code: 'internal', reason: 'workflow_error', message: /refused: strict/ },
    ],
    [
      'a full quota',
      refused(403, 'exceeded quota: windlass'),
      { code: 'internal', reason: 'workflow_error', message: /quota has no room/ },
    ],
    [
      'a quota that is not counted yet',
      refused(403, 'status unknown for quota: windlass, resources: count/workflowexecutions.windlass.dev'),
      { code: 'unavailable', reason: 'Overloaded', message: /takes no executions now/ },
    ],
    [
      'a policy of the cluster',
      refused(403, "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: inner words"),
      { code: 'internal', reason: 'workflow_error', message: /^an admission rule of the cluster denies/ },
    ],
    [
      'a webhook of the cluster',
      refused(400, 'admission webhook "w.example.com" denied the request: inner words'),
      { code: 'internal', reason: 'workflow_error', message: /^an admission rule of the cluster denies/ },
    ],
    [
      'an unknown status',
      refused(418, 'inner words'),
      { code: 'internal', reason: 'workflow_error', message: /^the API server refused the execution$/ },
    ],
    [
      'a lack of rights',
      refused(403, 'cannot create resource'),
      { code: 'internal', reason: 'workflow_error', message: /is not allowed to create executions/ },
    ],
    [
      'rights that a new tenant does not give yet',
      refused(
        403,
        'x is forbidden: User "api" cannot create resource "x" in API group "windlass.dev" in the namespace "tenant-a"',
      ),
      { code: 'unavailable', reason: 'Overloaded', message: /takes no executions now/ },
    ],
    [
      'a race for the quota of the tenant',
      refused(409, 'Operation cannot be fulfilled on resourcequotas "windlass": the object has been modified'),
      { code: 'unavailable', reason: 'Overloaded', message: /takes no executions now/ },
    ],
    [
      'a namespace that is gone',
      refused(404, 'namespaces "x" not found', 'NotFound'),
      { code: 'internal', reason: 'workflow_error', message: /no namespace/ },
    ],
    [
      'a body that the server does not take',
      refused(413, 'limit is 3145728'),
      { code: 'limit_exceeded', reason: 'ContentTooLarge', message: /1048576 bytes/ },
    ],
    [
      'an object that etcd does not take',
      refused(500, 'etcdserver: request is too large'),
      { code: 'limit_exceeded', reason: 'ContentTooLarge', message: /too large/ },
    ],
    [
      'overload',
      refused(429, 'too many requests'),
      { code: 'unavailable', reason: 'Overloaded', message: /takes no executions/ },
    ],
    [
      'an expired credential of ours',
      refused(401, 'Unauthorized'),
      { code: 'unavailable', reason: 'Overloaded', message: /takes no executions/ },
    ],
  ])('is certain of %s', (_title, error, want) => {
    const refusal = creationRefusal(error);
    expect(refusal).toMatchObject({ code: want.code, reason: want.reason });
    expect(refusal?.message).toMatch(want.message);
  });

  it.each<[title: string, error: KubeError, keeps: boolean]>([
    ['a full quota, which the tenant mends', refused(403, 'exceeded quota: windlass'), false],
    ['a lack of rights, which operators mend', refused(403, 'cannot create resource'), true],
    ['a webhook of the cluster', refused(403, 'admission webhook "w" denied the request: x'), true],
  ])('keeps the words of the server for the log, or not: %s', (_title, error, keeps) => {
    expect(creationRefusal(error)?.cause).toBe(keeps ? error : undefined);
  });

  it.each<[title: string, error: unknown]>([
    ['a timeout of the server', refused(504, 'Timeout')],
    ['a timeout of the request', refused(408, 'Timeout')],
    ['trouble of the server', refused(500, 'etcdserver: leader changed')],
    ['a server that is stopping', refused(503, 'apiserver not ready')],
    ['an answer that never came', new AppError('timeout', 'no answer')],
    ['a broken connection', new AppError('unavailable', 'socket hang up')],
    ['anything else', new TypeError('bug')],
  ])('is not certain of %s', (_title, error) => {
    expect(creationRefusal(error)).toBeUndefined();
  });
});
