import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WindlassApiError } from '../../../client/index.ts';
import { limits } from '../../../crds/limits.ts';
import { apiSpecs } from '../../../lib/kinds.ts';
import { resourceQuotas } from '../../../lib/kube/index.ts';
import { isNativeCluster } from '../harness/cluster.ts';
import { pause, waitForObject } from '../harness/wait.ts';
import { type GatewayStage, openGatewayStage } from './stage.ts';

/** A document of so many bytes. */
function documentOf(server: string, bytes = 0): string {
  const paths = { '/goods': { get: { operationId: 'readGoods', responses: { 200: { description: 'Goods.' } } } } };
  const of = (description: string): string =>
    JSON.stringify({
      openapi: '3.0.3',
      info: { title: 'Goods', version: '1', description },
      servers: [{ url: server }],
      paths,
    });
  return of('x'.repeat(Math.max(0, bytes - of('').length)));
}

const refusalOf = (error: unknown): object =>
  error instanceof WindlassApiError ? { status: error.status, error: error.error, message: error.message } : { error };

/** Bounds of the installed gateway. */
describe.runIf(isNativeCluster())('the bounds of the installed tool gateway', () => {
  let stage: GatewayStage;

  beforeAll(async () => {
    stage = await openGatewayStage('bounds');
  });
  afterAll(async () => {
    await stage?.strike();
  });

  it('takes a document of 5 MiB less one byte, and of 5 MiB, and none of one byte more', async () => {
    const admin = await stage.client();
    const register = (name: string, bytes: number) =>
      admin.registerApiSpec({ body: { name, document: documentOf('https://goods.example.com', bytes) } });
    for (const bytes of [limits.apiDocumentBytes - 1, limits.apiDocumentBytes]) {
      const name = `large-${bytes}`;
      await register(name, bytes);
      await waitForObject(stage.kube, { resource: apiSpecs, namespace: stage.tenant, name }, ({ status }) =>
        (status?.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True'),
      );
    }
    const refused = await register('too-large', limits.apiDocumentBytes + 1).catch(refusalOf);
    expect(refused).toMatchObject({
      status: 400,
      message: expect.stringContaining(`at most ${limits.apiDocumentBytes} are taken`),
    });
  });

  it('is 422 where the quota of the tenant is used up, and stores nothing', async () => {
    const spec = { hard: { 'count/apispecs.windlass.dev': '0' } };
    const ref = { namespace: stage.tenant, name: 'none' };
    await stage.kube.create(resourceQuotas, { metadata: ref, spec });
    await waitForObject(stage.kube, { resource: resourceQuotas, ...ref }, ({ status }) => status?.hard !== undefined);
    const client = await stage.client();
    const body = { name: 'beyond', document: documentOf('https://goods.example.com') };
    const register = () => client.registerApiSpec({ body }).catch(refusalOf);
    // The server may have to count first, and the answer is 503 until it has.
    let refused = await register();
    for (let again = 0; again < 50 && 'status' in refused && refused.status === 503; again += 1) {
      await pause(100);
      refused = await register();
    }
    expect(refused).toMatchObject({ status: 422, error: 'limit_exceeded', message: expect.stringContaining('quota') });
    expect((await client.listApiSpecs({ limit: 200 })).items.map(({ name }) => name)).not.toContain('beyond');
  });
});
