import { describe, expect, it } from 'vitest';
import { callerError, notYetMessage } from './caller-error.ts';
import { KubeError } from './kube/kube-error.ts';

const refused = (status: number, message: string, reason = ''): KubeError =>
  new KubeError(status, { message, reason }, { verb: 'create', resource: 'apispecs.windlass.dev' });

const reasons: Readonly<Record<number, string>> = { 404: 'NotFound', 409: 'Conflict' };

const right = (where: string): string =>
  `apispecs.windlass.dev is forbidden: User "system:serviceaccount:windlass-system:windlass-gateway" cannot create resource "apispecs" in API group "windlass.dev"${where}`;
const inTenant = ' in the namespace "tenant-new"';
const insides = /serviceaccount|tenant-new|windlass-system/;

describe('what the API server answers us', () => {
  it.each([
    ['rights that a namespace does not give yet', right(inTenant)],
    [
      'a role that is not there yet',
      right(`${inTenant}: RBAC: clusterrole.rbac.authorization.k8s.io "windlass-tenant-gateway" not found`),
    ],
    ['rights of the whole cluster, of a server that has just begun', right(' at the cluster scope')],
    ['a quota that is not counted', 'apispecs "x" is forbidden: status unknown for quota: windlass'],
    ['a server that has just begun', 'apispecs "x" is forbidden: not yet ready to handle request'],
  ])('asks callers to try again, without names of our insides: %s', (_, text) => {
    const { code, message } = callerError(refused(403, text, 'Forbidden'));
    expect(code).toBe('unavailable');
    expect(message).toMatch(/try again/);
    expect(message).not.toMatch(insides);
    expect(notYetMessage(refused(403, text, 'Forbidden'))).toBe(message);
  });

  const raced =
    'Operation cannot be fulfilled on resourcequotas "windlass": the object has been modified; please apply your changes to the latest version and try again';

  it('asks callers to try again where requests race for a quota', () => {
    const { code, message } = callerError(refused(409, raced, 'Conflict'));
    expect([code, message]).toEqual(['unavailable', expect.stringMatching(/quota of the tenant .* try again/)]);
    expect(notYetMessage(refused(409, raced, 'Conflict'))).toBe(message);
  });

  it.each<[string, status: number, text: string, want: object]>([
    ['a right that no role has', 403, right(''), { code: 'internal' }],
    ['a replica whose identity is refused', 401, 'Unauthorized', { code: 'unavailable' }],
    ['a field that the kinds in the cluster lack', 500, '.spec.x: field not declared in schema', { code: 'internal' }],
    ['trouble of its own', 500, 'etcdserver: leader changed', { code: 'unavailable' }],
    ['a webhook that does not answer', 500, 'failed calling webhook "w"', { code: 'unavailable' }],
    ['an object that is too large', 500, 'etcdserver: request is too large', { code: 'limit_exceeded' }],
    ['a kind that is not there', 404, 'the server could not find the requested resource', { code: 'unavailable' }],
    ['a proxy in place of the server', 404, '404 page not found', { code: 'unavailable' }],
    ['an object that is not there', 404, 'apispecs.windlass.dev "x" not found', { code: 'not_found' }],
    ['a namespace that is ending', 403, 'x is forbidden: because it is being terminated', { code: 'not_found' }],
    ['a full quota', 403, 'x is forbidden: exceeded quota: q', { code: 'limit_exceeded' }],
    [
      'a policy with its own sentence',
      403,
      'admission webhook "w" denied the request: no specs here',
      { code: 'forbidden', message: 'admission webhook "w" denied the request: no specs here' },
    ],
    [
      'a policy that speaks of rights',
      403,
      `admission webhook "w" denied the request: ${right(inTenant)}`,
      { code: 'forbidden' },
    ],
    ['a write of another in between', 409, 'the object has been modified', { code: 'conflict' }],
  ])('means for callers: %s', (_, status, text, want) => {
    const reason = text === '404 page not found' ? '' : reasons[status];
    expect(callerError(refused(status, text, reason))).toMatchObject(want);
  });

  it('is nothing of a new tenant where any other error is thrown', () => {
    expect(notYetMessage(new Error(right(inTenant)))).toBeUndefined();
    expect(notYetMessage(refused(403, right('')))).toBeUndefined();
  });
});
