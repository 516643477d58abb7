import { execFile } from 'node:child_process';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiVersion } from '../../../crds/labels.ts';
import type { Agent } from '../../../crds/schema/agent.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { aScript, aWorkflow } from '../../builders/workflow-builder.ts';
import { securityContexts } from '../../../lib/kinds.ts';
import { type KubeObject, type Pod, pods, type Resource } from '../../../lib/kube/index.ts';
import { podsOf } from '../chart/release.ts';
import { type GitServer, startGitServer } from '../git/git-server.ts';
import { type GatewayStage, openGatewayStage } from '../gateway/stage.ts';
import { isNativeCluster, kubeconfigPath } from '../harness/cluster.ts';
import { agentExecutions, agents, workflowExecutions } from '../harness/kinds.ts';
import { podLog } from '../harness/pod-log.ts';
import { waitForNone, waitForObject } from '../harness/wait.ts';
import { incompressible, run as runWorkflow, twoMebibytes } from '../outputs/large-outputs.ts';
import { type S3Server, startS3Server } from '../outputs/s3-server.ts';
import { type GrpcPeer, makeGrpcPeer } from './canaries/grpc-peer.ts';
import { hostOf } from './canaries/host-address.ts';
import { type Mirror, startMirror } from './canaries/mirror.ts';
import { startPaymentMirror } from './canaries/payment-mirror.ts';
import { plant, type Planted, uproot, webhookSource } from './canaries/plant.ts';
import { secretTexts } from './canaries/secret-texts.ts';
import { programVariables, secretsInUse } from './canaries/uses.ts';

const run = promisify(execFile);
const system = 'windlass-system';
const maxBuffer = 256 * 1024 * 1024;
const metricsPorts: Readonly<Record<string, number>> = {
  api: 8_081,
  controllers: 9_090,
  gateway: 8_091,
  relay: 50_057,
};
const components = Object.keys(metricsPorts);
/** No secret: the search finds it. */
const marker = `marker-${randomBytes(8).toString('hex')}`;
/** Reads all that a command of the pod may read of its own environment and of the runner's. */
const environment = `let runner = 'hidden';
try { runner = require('fs').readFileSync('/proc/1/environ', 'utf8'); } catch {}
console.log(JSON.stringify({ own: process.env, runner }));`;

/** Secrets of an installation where each truly lies, all of them in use. Needs the installation of dev/demo/install. */
describe.runIf(isNativeCluster())('secrets of an installation whose agents use them', () => {
  let stage: GatewayStage;
  let git: GitServer;
  let mirror: Mirror;
  let bucket: S3Server;
  let peer: GrpcPeer;
  let payments: () => Promise<string>;
  let planted: Planted;
  let token = '';
  let api = '';
  let worked: AgentExecution;
  let refused: AgentExecution;
  const streams: string[] = [];
  const hooks: string[] = [];
  let prices = '';
  /** The code of the answer over gRPC. */
  let submitted: status | undefined;

  beforeAll(async () => {
    stage = await openGatewayStage('canaries');
    const { kube, tenant, desk } = stage;
    mirror = await startMirror(kube, desk.image);
    bucket = await startS3Server(await hostOf(kube));
    peer = await makeGrpcPeer(tenant);
    planted = await plant(kube, { tenant, mirror, bucket, peer });
    git = await startGitServer(kube, tenant);
    const [replica] = await podsOf(kube, 'api');
    const host = replica?.status?.podIP ?? '';
    api = `http://${host}:8080`;
    payments = await startPaymentMirror(replica?.metadata.name ?? '', desk.image);
    token = await stage.token(['svc:admin']);
    await desk.register(await stage.client(['svc:admin']));
    await stage.warmUp();
    await applyAgents();
    for (const signature of ['sha256=00', `sha256=${createHmac('sha256', planted.webhook).update('{}').digest('hex')}`])
      hooks.push(await webhook(signature));
    submitted = await peer.submit(host);
    prices = await page('/v1/billing/prices');
    await large();
    [worked, refused] = await Promise.all([execution('finder', turns()), execution('mirrored', 'Say hello.')]);
  }, 900_000);

  afterAll(async () => {
    // While the controllers have the bucket: no other process can empty it and release the executions.
    if (stage !== undefined) await Promise.all([emptied(workflowExecutions), emptied(agentExecutions)]);
    await git?.remove();
    await mirror?.remove();
    if (stage !== undefined) await uproot(stage.kube);
    await bucket?.stop();
    await peer?.remove();
    await stage?.strike();
  }, 600_000);

  async function emptied<T extends KubeObject>(kind: Resource<T>): Promise<void> {
    const { kube, tenant: namespace } = stage;
    await kube.deleteCollection(kind, { namespace });
    await waitForNone(kube, { resource: kind, namespace });
  }

  /** An output that the bucket takes. */
  async function large(): Promise<void> {
    const { kube, tenant: namespace } = stage;
    const workflow = aWorkflow('large')
      .state('write', aScript(twoMebibytes(incompressible)))
      .build();
    await runWorkflow({ kube, namespace }, workflow);
  }

  async function applyAgents(): Promise<void> {
    const { kube, tenant: namespace, desk } = stage;
    await kube.create(securityContexts, {
      apiVersion,
      kind: 'SecurityContext',
      metadata: { name: 'canaries', namespace },
      spec: {
        path_allowlist: ['volume:git-*/**'],
        git_secrets: ['https', 'ssh'],
        domain_allowlist: [mirror.address],
      },
    });
    const task = { instruction: 'You say what your input says.' };
    const names = ['web.search', 'notes.*', 'mirror.*', 'orders.*', 'svc.git.*'];
    const cmd = { name: 'cmd', executor: 'builtin:cmd', config: { subcommand_allowlist: { node: ['-e'] } } };
    const made = (name: string, spec: object): Agent => ({
      apiVersion: 'windlass.dev/v1',
      kind: 'Agent',
      metadata: { name, namespace },
      spec: { version: '1.0.0', runtime: { model: 'default' }, task, ...spec },
    });
    const tools = [cmd, ...names.map((name) => ({ name }))];
    const runtime = { model: 'default', image: desk.image };
    await kube.create(agents, made('finder', { runtime, tools, security: { context: 'canaries' } }));
    await kube.create(agents, made('mirrored', { runtime: { model: 'mirror' } }));
  }

  function turns(): string {
    const calls = [
      ['cmd.run', { command: 'node', args: ['-e', environment] }],
      ['web.search', { query: 'tea' }],
      ['notes.add', { text: marker }],
      ['orders.place', { customer: 'ada', item: 'tea', quantity: 1 }],
      ['svc.git.clone', { repo_url: git.https, label: 'over-https', secret: 'https' }],
      ['svc.git.clone', { repo_url: git.ssh, label: 'over-ssh', secret: 'ssh' }],
    ] as const;
    const asked = calls.map(([name, args]) => ({ tool_calls: [{ name, arguments: args }] }));
    return JSON.stringify([...asked, { content: 'found' }]);
  }

  async function webhook(signature: string): Promise<string> {
    const headers = { 'content-type': 'application/json', 'x-svc-signature': signature };
    const answer = await fetch(`${api}/v1/webhooks/${webhookSource}`, { method: 'POST', headers, body: '{}' });
    return `${answer.status} ${await answer.text()}`;
  }

  const page = async (path: string): Promise<string> =>
    (await fetch(`${api}${path}`, { headers: { authorization: `Bearer ${token}` } })).text();

  async function execution(agent: string, input: string): Promise<AgentExecution> {
    const { kube, tenant: namespace } = stage;
    const object = {
      apiVersion: 'windlass.dev/v1',
      kind: 'AgentExecution',
      metadata: { name: `${agent}-run`, namespace },
    } as const;
    const { metadata } = await kube.create(agentExecutions, { ...object, spec: { agent, input } });
    const path = `/v1/executions/${metadata.uid}`;
    const following = [page(`${path}/stream`), page(`${path}/events`)];
    const target = { resource: agentExecutions, namespace, name: metadata.name };
    const ended = await waitForObject(kube, target, ({ status }) => status?.finished_at !== undefined, {
      timeoutMs: 300_000,
    });
    streams.push(...(await Promise.all(following)));
    return ended;
  }

  it('were all in use: by models, tools, programs, git, webhooks and an API behind the gateway', async () => {
    expect(worked.spec.result).toMatchObject({ phase: 'completed', output: 'found' });
    expect(refused.spec.result).toMatchObject({ phase: 'failed', reason: 'ProviderUnavailable' });
    const records = await page(`/v1/executions/${worked.metadata.uid}/transcript`);
    const ended = (JSON.parse(records) as { records: Record<string, unknown>[] }).records.filter(
      ({ kind }) => kind === 'tool_ended',
    );
    // The answer of a refused call is shown too.
    expect(ended.map(({ tool, ran, content }) => (ran === true ? tool : content))).toEqual([
      'cmd.run',
      'web.search',
      'notes.add',
      'orders.place',
      'svc.git.clone',
      'svc.git.clone',
    ]);
    for (const used of ['PATH', '1 notes', 'confirmed', 'over-https', 'over-ssh']) expect(records).toContain(used);
    expect(await stage.desk.log()).toContain('"key":"right"');
    expect(hooks.map((answer) => answer.slice(0, 3))).toEqual(['401', expect.not.stringMatching('401') as unknown]);
    // The tenant of the certificate has no router.
    expect(submitted).toBe(status.FAILED_PRECONDITION);
    expect(await payments()).toContain(planted.payment);
    expect(prices).toMatch(/payment_provider_error/);
    // The mirror itself says what it got.
    const got = await mirror.log();
    for (const secret of [planted.model, planted.mirror, planted.search, planted.mcp]) expect(got).toContain(secret);
    expect(await bucket.keys()).not.toEqual([]);
    const digest = createHash('sha256').update(planted.program).digest('hex');
    expect(new Set(await programVariables(stage.kube, 'NOTES_TOKEN'))).toEqual(new Set([digest]));
  });

  it('lie in Secrets of which each one is in use by a ready pod of the installation', async () => {
    const inUse = await secretsInUse(stage.kube);
    const places = [...(await secretTexts(stage.kube, system)).keys()];
    expect(places.filter((place) => !inUse.has(place.split('/')[0] ?? ''))).toEqual([]);
  });

  it('finds none of at least fifteen: not in a log at debug, stream, metric, object, event, output or transcript', async () => {
    const found = await canaries();
    expect(new Set(found.values()).size).toBeGreaterThanOrEqual(15);
    expect([...found.values()]).toEqual(expect.arrayContaining(Object.values(planted)));
    const places = await haystacks();
    expect(Object.keys(places).filter((place) => places[place]?.includes(marker))).toEqual(
      expect.arrayContaining(['streams', `objects of ${stage.tenant}`, 'transcript of finder-run']),
    );
    for (const [place, text] of Object.entries(places)) {
      expect(`${place}: ${text.length > 50 ? 'text' : text}`).toBe(`${place}: text`);
      for (const [secret, canary] of found)
        for (const form of [canary, Buffer.from(canary).toString('base64'), encodeURIComponent(canary)])
          expect(`${place}: ${text.includes(form) ? secret : 'none'}`).toBe(`${place}: none`);
    }
  });

  /** Every secret by its place. Those of the installation are the planted ones, and its own keys and passwords. */
  async function canaries(): Promise<ReadonlyMap<string, string>> {
    const [password = '', privateKey = ''] = git.canaries;
    return new Map<string, string>([
      ...(await secretTexts(stage.kube, system)),
      ['git over HTTPS', password],
      ['git over SSH', privateKey],
      ['key of the order desk', stage.desk.key],
      ['key of a client of gRPC', peer.key],
      ['token of a person', token.split('.')[2] ?? ''],
    ]);
  }

  async function haystacks(): Promise<Readonly<Record<string, string>>> {
    const { kube, tenant } = stage;
    const places: Record<string, string> = {
      streams: streams.join('\n'),
      webhooks: hooks.join('\n').padEnd(60),
      prices: prices.padEnd(60),
      'audit of the gateway': JSON.stringify(await stage.events()),
    };
    for (const component of components) {
      const found = await podsOf(kube, component);
      for (const { spec } of found)
        expect(spec.containers[0]?.env).toContainEqual({ name: 'WINDLASS_LOG_LEVEL', value: 'debug' });
      places[`logs of the ${component}`] = (await Promise.all(found.map(logOf))).join('\n');
      places[`metrics of the ${component}`] = (await Promise.all(found.map((pod) => metricsOf(component, pod)))).join(
        '\n',
      );
    }
    const { items } = await kube.listAll(pods, { namespace: tenant });
    places['logs of pods of the tenant'] = (await Promise.all(items.map(logOf))).join('\n').padEnd(60);
    for (const namespace of [tenant, system]) places[`objects of ${namespace}`] = await objectsOf(namespace);
    for (const { metadata } of [worked, refused]) {
      places[`view of ${metadata.name}`] = await page(`/v1/executions/${metadata.uid}`);
      places[`transcript of ${metadata.name}`] = await page(`/v1/executions/${metadata.uid}/transcript`);
    }
    return places;
  }

  const logOf = ({ metadata: { name = '', namespace = '' } }: Pod): Promise<string> =>
    podLog(stage.kube, { name, namespace }).catch((error: unknown) => String(error));

  const metricsOf = async (component: string, { status }: Pod): Promise<string> =>
    (await fetch(`http://${status?.podIP}:${metricsPorts[component]}/metrics`)).text();

  /** Everything but Secrets: also events, and ConfigMaps with the configuration, captured outputs and archives. */
  async function objectsOf(namespace: string): Promise<string> {
    const kubectl = async (...args: string[]): Promise<string> =>
      (await run('kubectl', ['--kubeconfig', kubeconfigPath(), ...args], { maxBuffer })).stdout;
    const list = ['api-resources', '--verbs=list', '--namespaced', '--output=name'];
    const kinds = (await kubectl(...list)).split('\n').filter((kind) => kind !== '' && kind !== 'secrets');
    return kubectl('get', kinds.join(','), '--namespace', namespace, '--output=json', '--ignore-not-found');
  }
});
