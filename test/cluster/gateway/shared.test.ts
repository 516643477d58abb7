import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGatewayClient, type GatewayClient, WindlassApiError } from '../../../client/index.ts';
import { globalNamespace } from '../../../crds/labels.ts';
import type { ApiSpec } from '../../../crds/schema/api-spec.ts';
import type { ToolWorkflow } from '../../../crds/schema/tool-workflow.ts';
import { userToken } from '../../../dev/oidc/sign-in.ts';
import { apiSpecs, toolWorkflows } from '../../../lib/kinds.ts';
import { isNativeCluster } from '../harness/cluster.ts';
import { waitForObject } from '../harness/wait.ts';
import { type GatewayStage, openGatewayStage, provider } from './stage.ts';

const apiVersion = 'windlass.dev/v1';
const suffix = randomBytes(4).toString('hex');
const document = JSON.stringify({
  openapi: '3.0.3',
  info: { title: 'Shared', version: '1' },
  servers: [{ url: 'https://shared.example.com' }],
  paths: { '/things': { get: { operationId: 'readThings' } } },
});
const step = { name: 'read', operation_id: 'readThings', body_template: '{}', on_error: 'AbortWorkflow' } as const;
const isReady = ({ status }: ApiSpec | ToolWorkflow): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;

/** Objects in windlass-global, and the tenant whose namespace is that of the release. */
describe.runIf(isNativeCluster())('what all tenants share at the installed gateway', () => {
  const name = `shared-${suffix}`;
  let stage: GatewayStage;
  let ours: GatewayClient;
  let systems: GatewayClient;
  let sharedId: string;

  beforeAll(async () => {
    stage = await openGatewayStage('shared');
    ours = await stage.client();
    const token = await userToken(provider(), { name: 'sam', tenant: 'system', roles: ['svc:operator'] });
    systems = createGatewayClient({ server: (await stage.replicas())[0].url, token });
    const metadata = { name, namespace: globalNamespace };
    const made = await stage.kube.create(apiSpecs, { apiVersion, kind: 'ApiSpec', metadata, spec: { document } });
    sharedId = made.metadata.uid ?? '';
    const spec = { description: 'd', input_schema: { type: 'object' }, api_spec: name, steps: [step] };
    await stage.kube.create(toolWorkflows, { apiVersion, kind: 'ToolWorkflow', metadata, spec } as ToolWorkflow);
  });
  afterAll(async () => {
    for (const namespace of [globalNamespace, 'windlass-system']) {
      await stage.kube.delete(toolWorkflows, { namespace, name });
      await stage.kube.delete(apiSpecs, { namespace, name });
      await stage.kube.delete(apiSpecs, { namespace, name: `private-${suffix}` });
    }
    await stage.strike();
  });

  it('AMB-125 is ready, and each tenant sees it as global and builds on it', async () => {
    const at = { namespace: globalNamespace, name };
    await waitForObject(stage.kube, { resource: apiSpecs, ...at }, isReady);
    await waitForObject(stage.kube, { resource: toolWorkflows, ...at }, isReady);
    const { items } = await ours.listApiSpecs();
    expect(items).toContainEqual(expect.objectContaining({ id: sharedId, scope: 'global' }));
    const body = { name: `own-${suffix}`, description: 'd', input_schema: { type: 'object' }, steps: [step] };
    const { id } = await ours.registerToolWorkflow({ body: { ...body, api_spec_id: sharedId } as never });
    await waitForObject(
      stage.kube,
      { resource: toolWorkflows, namespace: stage.tenant, name: `own-${suffix}` },
      isReady,
    );
    expect(await ours.readToolWorkflow({ id })).toMatchObject({ scope: 'tenant' });
  });

  it('AMB-125 GW-TEN-08 is written by no operator of the tenant system, whose own objects no other tenant sees', async () => {
    const refusal = await systems.deleteApiSpec({ id: sharedId }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ status: 403 });
    expect(refusal).toBeInstanceOf(WindlassApiError);
    const own = await systems.registerApiSpec({ body: { name: `private-${suffix}`, document } });
    expect(await systems.readApiSpec({ id: own.id })).toMatchObject({ scope: 'tenant' });
    await expect(ours.readApiSpec({ id: own.id })).rejects.toMatchObject({ status: 404, error: 'not_found' });
    const stored = await stage.kube.get(apiSpecs, { namespace: 'windlass-system', name: `private-${suffix}` });
    expect(stored.metadata.uid).toBe(own.id);
  });
});
