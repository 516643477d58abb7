import { describe, expect, it } from 'vitest';
import type { KubeClient } from './client.ts';
import { createUnlessExists } from './create-unless-exists.ts';
import { KubeError } from './kube-error.ts';
import type { KubeObject } from './objects.ts';
import { configMaps } from './resource.ts';

const wanted: KubeObject = { metadata: { namespace: 'team', name: 'x' } };
const stored: KubeObject = { metadata: { ...wanted.metadata, uid: 'u1' } };
const answering = (answer: KubeObject | KubeError): Pick<KubeClient, 'create'> => ({
  create: () => (answer instanceof KubeError ? Promise.reject(answer) : Promise.resolve(answer as never)),
});
const refusal = (status: number, reason: string) =>
  new KubeError(status, { message: reason, reason }, { verb: 'create', resource: 'configmaps' });

describe('an object that is created unless it exists', () => {
  it('is what the server stored', async () => {
    expect(await createUnlessExists(answering(stored), configMaps, wanted)).toBe(stored);
  });

  it('is nothing where the name is taken', async () => {
    expect(await createUnlessExists(answering(refusal(409, 'AlreadyExists')), configMaps, wanted)).toBeUndefined();
  });

  it.each([refusal(409, 'Conflict'), refusal(403, 'Forbidden'), refusal(500, 'InternalError')])(
    'fails where the server refuses it for another reason: $status $message',
    async (error) => {
      await expect(createUnlessExists(answering(error), configMaps, wanted)).rejects.toBe(error);
    },
  );
});
