import { describe, expect, it } from 'vitest';
import type { KubeClient } from './client.ts';
import { findAgain, findObject } from './find-object.ts';
import { KubeError } from './kube-error.ts';
import type { KubeObject } from './objects.ts';
import { configMaps } from './resource.ts';

const ref = { namespace: 'team', name: 'x' };
const stored: KubeObject = { metadata: { ...ref, uid: 'u1' } };
const answering = (answer: KubeObject | KubeError): Pick<KubeClient, 'get'> => ({
  get: () => (answer instanceof KubeError ? Promise.reject(answer) : Promise.resolve(answer as never)),
});
const refusal = (status: number, message: string, reason?: string) =>
  new KubeError(
    status,
    { message, ...(reason === undefined ? {} : { reason }) },
    { verb: 'get', resource: 'configmaps' },
  );
const notThere = refusal(404, 'configmaps "x" not found', 'NotFound');

describe('an object that may not be there', () => {
  it.each([
    ['the object', stored, stored],
    ['nothing where the server has none', notThere, undefined],
  ])('is %s', async (_title, answer, want) => {
    expect(await findObject(answering(answer), configMaps, ref)).toBe(want);
  });

  it.each([
    ['the server lacks the kind', refusal(404, 'the server could not find the requested resource', 'NotFound')],
    ['an older server lacks the kind', refusal(404, '404 page not found\n')],
    ['a proxy answers in place of the server', refusal(404, '404 Not Found')],
    ['it may not be read', refusal(403, 'no')],
    ['the server is in trouble', refusal(500, 'x')],
  ])('is unknown where %s', async (_title, error) => {
    await expect(findObject(answering(error), configMaps, ref)).rejects.toBe(error);
  });

  it('is found again only under its own uid', async () => {
    expect(await findAgain(answering(stored), configMaps, stored)).toBe(stored);
    const other = { metadata: { ...ref, uid: 'u2' } };
    expect(await findAgain(answering(other), configMaps, stored)).toBeUndefined();
    expect(await findAgain(answering(notThere), configMaps, stored)).toBeUndefined();
  });
});
