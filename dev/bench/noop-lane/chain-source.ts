import { createUpstreamRoom } from '../../../lib/tools/web/upstream-room.ts';
import type { ApiSpec } from '../../../crds/schema/api-spec.ts';
import type { ToolWorkflow } from '../../../crds/schema/tool-workflow.ts';
import type { ToolSource } from '../../../gateway/tools/tool-source.ts';
import { createWorkflowSource } from '../../../gateway/tools/workflow-source.ts';
import type { AuditChain } from '../../../lib/audit-chain/index.ts';
import { systemClock } from '../../../lib/clock.ts';
import { createCredentials, createTokenExchange } from '../../../lib/credentials/index.ts';
import { readOpenApi } from '../../../lib/openapi-document/index.ts';
import { createUpstream } from '../../../lib/upstream/index.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import { laneTool } from '../lane-setup.ts';

const namespace = 'acme';
const apiId = '11111111-1111-4111-8111-111111111111';

const workflow = {
  apiVersion: 'windlass.dev/v1',
  kind: 'ToolWorkflow',
  metadata: { name: 'chain', namespace, uid: '22222222-2222-4222-8222-222222222222' },
  spec: {
    name: laneTool,
    description: 'Reads an order.',
    input_schema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    api_spec_id: apiId,
    steps: [
      {
        name: 'read',
        operation_id: 'read',
        body_template: '{"id": "{{input.id}}"}',
        extractors: { customer: '$.customer' },
        on_error: 'AbortWorkflow',
      },
    ],
  },
} as const satisfies ToolWorkflow;

const api: ApiSpec = {
  apiVersion: 'windlass.dev/v1',
  kind: 'ApiSpec',
  metadata: { name: 'shop', namespace, uid: apiId },
  spec: { allow_internal_addresses: ['127.0.0.0/8'] },
};

/** A chain of one step as the gateway runs it: `GET /orders/7` of an upstream on loopback, with nothing that signs in. */
export function chainSource(audit: AuditChain, url: string): ToolSource {
  const upstream = createUpstream({ clock: systemClock, resolve: async () => [{ address: '127.0.0.1', family: 4 }] });
  const { index } = readOpenApi(documentOf(url));
  if (index === undefined) throw new Error('the document of the benchmark is wrong');
  const kube = { get: () => Promise.reject(new Error('no Secret is read')) };
  return createWorkflowSource({
    audit,
    clock: systemClock,
    room: createUpstreamRoom({ clock: systemClock, size: 70 * 1_048_576 }),
    logger: silentLogger,
    tenancy: { visibleTo: () => [namespace] },
    objects: { byIndex: () => [workflow] },
    former: { has: () => false, isCurrent: true },
    whole: async () => workflow,
    apiSpecs: { byIndex: () => [api], getByUid: () => api },
    documents: { indexOf: async () => index },
    credentials: createCredentials({
      kube,
      clock: systemClock,
      tokens: createTokenExchange({ clock: systemClock, upstream }),
    }),
    upstream,
  });
}

const documentOf = (url: string): string =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'shop', version: '1' },
    servers: [{ url: url.replace(/\/$/, '') }],
    paths: { '/orders/7': { get: { operationId: 'read', responses: { 200: { description: 'ok' } } } } },
  });
