import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configMaps, defineResource, type KubeObject, namespaces, pods, secrets } from '../../../lib/kube/index.ts';
import { isNativeCluster } from '../harness/cluster.ts';
import { podLog } from '../harness/pod-log.ts';
import { testRunLabel } from '../harness/test-namespace.ts';
import { pause, waitForObject } from '../harness/wait.ts';
import { type Called, type GatewayStage, openGatewayStage, type SigningSession } from './stage.ts';

const services = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  plural: 'services',
  kind: 'Service',
  namespaced: true,
});

const name = 'token-server';
const client = { id: 'desk', secret: `canary-${randomBytes(16).toString('hex')}` };

/** A token server (RFC 6749 §4.4) and an API that takes its tokens alone. Each request is one line of its log. */
const program = `
import { createServer } from 'node:http';
let tokens = 0;
createServer((request, response) => {
  const { method, url, headers } = request;
  console.log(method + ' ' + url);
  request.resume();
  const answer = (status, body) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  if (url === '/token') {
    // RFC 6749 §2.3.1: both parts are encoded as form fields.
    const pair = Buffer.from((headers.authorization ?? '').replace('Basic ', ''), 'base64').toString();
    if (decodeURIComponent(pair) !== process.env.CLIENT) return answer(401, { error: 'invalid_client' });
    tokens += 1;
    return answer(200, { access_token: 'token-' + tokens, token_type: 'Bearer', expires_in: 3600 });
  }
  if (url === '/healthz') return answer(200, {});
  return answer(/^Bearer token-/.test(headers.authorization ?? '') ? 200 : 401, { item: 'tea' });
}).listen(8080, '0.0.0.0');
`;

const documentOf = (url: string): string =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Goods', version: '1' },
    servers: [{ url }],
    paths: { '/goods': { get: { operationId: 'readGoods', responses: { 200: { description: 'Goods.' } } } } },
  });

/** Credentials of the client credentials grant, as the chart runs the gateway. */
describe.runIf(isNativeCluster())('an API with OAuth 2.0 at the installed tool gateway', () => {
  let stage: GatewayStage;
  let session: SigningSession;
  let namespace: string;

  beforeAll(async () => {
    stage = await openGatewayStage('oauth');
    namespace = `${stage.tenant}-tokens`;
    await startServer();
    session = await stage.session();
  });
  afterAll(async () => {
    if (stage === undefined) return;
    await stage.kube.delete(namespaces, { name: namespace }, { propagation: 'Background' });
    await stage.strike();
  });

  async function startServer(): Promise<void> {
    const { kube, tenant, desk } = stage;
    const labels = { [testRunLabel]: 'true', 'pod-security.kubernetes.io/enforce': 'restricted' };
    await kube.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } });
    await kube.create(configMaps, { metadata: { name, namespace }, data: { 'server.mjs': program } });
    const data = Object.entries({ client_id: client.id, client_secret: client.secret });
    await kube.create(secrets, {
      metadata: { name, namespace: tenant, labels: { 'windlass.dev/credential': 'true' } },
      data: Object.fromEntries(data.map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
    });
    const ports = [{ name: 'http', port: 8_080, targetPort: 8_080 }];
    const spec = { selector: { app: name }, ports };
    await kube.create(services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace },
      spec,
    } as KubeObject);
    await kube.create(pods, podOf(namespace, desk.image));
    await waitForObject(kube, { resource: pods, namespace, name }, ({ status }) =>
      (status?.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True'),
    );
  }

  const url = (): string => `http://${name}.${namespace}.svc:8080`;

  /** Registers the API with the networks that are open, and a tool of one step. */
  async function register(tool: string, networks: readonly string[], tokenUrl = `${url()}/token`): Promise<void> {
    const admin = await stage.client(['svc:admin']);
    const { id } = await admin.registerApiSpec({
      body: {
        name: tool.replace('.', '-'),
        document: documentOf(url()),
        allow_internal_addresses: [...networks],
        credentials: { kind: 'oauth2_client_credentials', secret: { name }, token_url: tokenUrl },
      },
    });
    await admin.registerToolWorkflow({
      body: {
        name: tool,
        description: 'Reads goods.',
        input_schema: { type: 'object' },
        api_spec_id: id,
        steps: [{ name: 'read', operation_id: 'readGoods', body_template: '{}', on_error: 'AbortWorkflow' }],
      },
    });
  }

  /** Until the replica knows the tool, and, for a Service that is young, until `isWanted`. */
  async function callUntil(tool: string, isWanted: (called: Called) => boolean): Promise<Called> {
    let called = await stage.call(session, { tool });
    for (let attempt = 0; attempt < 60 && !isWanted(called); attempt += 1) {
      await pause(500);
      called = await stage.call(session, { tool });
    }
    return called;
  }

  it('GW-WF-11 GW-EVT-06 sends each step with a token that it asked for once', async () => {
    await register('goods.read', ['10.0.0.0/8']);
    const called = await callUntil('goods.read', ({ result }) => result?.isError === false);
    expect(called).toMatchObject({ status: 200, result: { structuredContent: { result: { item: 'tea' } } } });
    const [{ url: replica }] = await stage.replicas();
    for (let again = 0; again < 3; again += 1)
      expect((await stage.call(session, { tool: 'goods.read' }, replica)).result?.isError).toBe(false);
    const lines = (await podLog(stage.kube, { namespace, name })).split('\n');
    expect(lines.filter((line) => line === 'GET /goods').length).toBeGreaterThanOrEqual(4);
    expect(lines.filter((line) => line === 'POST /token').length).toBeLessThanOrEqual((await stage.replicas()).length);
    const events = await stage.events();
    expect(events.map(({ type }) => type)).toContain('CredentialExchangeCompleted');
    expect(JSON.stringify([called, events])).not.toContain(client.secret);
  });
});

function podOf(namespace: string, image: string) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app: name } },
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'server',
          image,
          command: ['/usr/local/bin/node', '/program/server.mjs'],
          env: [{ name: 'CLIENT', value: `${client.id}:${client.secret}` }],
          readinessProbe: { httpGet: { path: '/healthz', port: 8_080 }, periodSeconds: 1 },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          volumeMounts: [{ name: 'program', mountPath: '/program', readOnly: true }],
        },
      ],
      volumes: [{ name: 'program', configMap: { name } }],
    },
  };
}
