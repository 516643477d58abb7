import { describe, expect, it } from 'vitest';
import { HttpError } from '../../lib/http/http-error.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { writeRefusal } from './write-refusal.ts';

const call = { verb: 'create', resource: 'workflowexecutions.windlass.dev' };
const refused = (status: number, message: string): KubeError => new KubeError(status, { message }, call);
const tooLarge = (): HttpError => new HttpError({ code: 'limit_exceeded' });

const right =
  'x is forbidden: User "api" cannot create resource "x" in API group "windlass.dev" in the namespace "tenant-a"';

describe('what the API server holds against an object', () => {
  it.each([
    [403, 'exceeded quota: q, requested: 1, used: 1, limited: 1', 'limit_exceeded'],
    [403, 'status unknown for quota: q, resources: count/workflowexecutions.windlass.dev', 'unavailable'],
    [413, 'Request entity too large', 'limit_exceeded'],
    [403, 'cannot create resource', undefined],
    [403, right, 'unavailable'],
    [500, 'status unknown for quota: q', undefined],
  ])('%i %s is answered as %s', (status, message, code) => {
    expect(writeRefusal(refused(status, message), tooLarge)?.code).toBe(code);
  });
});
