import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Agent, AgentSpec } from '../../../crds/schema/agent.ts';
import type { AgentExecution, AgentExecutionSpec } from '../../../crds/schema/agent-execution.ts';
import { defineResource, type KubeClient, type Pod, pods } from '../../../lib/kube/index.ts';
import { type Answer, createSend, type Send } from '../admission/api.ts';
import { connect } from '../harness/cluster.ts';
import { type UsedControllers, useControllers } from '../harness/used-controllers.ts';
import { waitForNone, waitForObject } from '../harness/wait.ts';
import { withoutApi } from './without-api.ts';

const row = { group: 'windlass.dev', version: 'v1', namespaced: true } as const;
const agents = defineResource<Agent>({ ...row, plural: 'agents', kind: 'Agent' });
const agentExecutions = defineResource<AgentExecution>({ ...row, plural: 'agentexecutions', kind: 'AgentExecution' });

const account = (name: string): string => `system:serviceaccount:windlass-system:windlass-${name}`;
const [api, controllers] = [account('api'), account('controllers')];
const mergePatch = { contentType: 'application/merge-patch+json' } as const;
/** Times are of now: one that ended long ago is deleted for its TTL as soon as the controllers see it. */
const result = { phase: 'completed', at: new Date().toISOString(), score: 0.5, iterations: 2, output: 'text' };
const parent = { name: 'p', uid: 'u', state: 's', visit: 1 };

/** Needs the installation of dev/demo/install, whose API it takes away meanwhile. */
describe('executions of agents and their pods', () => {
  let used: UsedControllers;
  let kube: KubeClient;
  let namespace: string;
  let send: Send;
  let restoreApi: () => Promise<void>;

  beforeAll(async () => {
    used = await useControllers('agent-pods');
    ({ kube, namespace } = used);
    const { kubeconfig, kube: other } = await connect();
    await other.close();
    send = await createSend(kubeconfig);
    restoreApi = await withoutApi(kube);
    await anAgent('files', { tools: [{ name: 'fs.read' }] });
    await anAgent('talker', { tools: [{ name: 'web.fetch' }] });
  });
  afterAll(async () => {
    await restoreApi?.();
    await used?.release();
  });

  const anAgent = async (name: string, spec: Partial<AgentSpec>): Promise<void> => {
    await kube.create(agents, {
      apiVersion: 'windlass.dev/v1',
      kind: 'Agent',
      metadata: { name, namespace },
      spec: { version: '1.0.0', runtime: { model: 'smart' }, task: { instruction: 'Work.' }, ...spec },
    });
  };
  const execution = (name: string, spec: Partial<AgentExecutionSpec>): AgentExecution => ({
    apiVersion: 'windlass.dev/v1',
    kind: 'AgentExecution',
    metadata: { name, namespace },
    spec: { agent: 'files', ...spec },
  });
  const start = (name: string, spec: Partial<AgentExecutionSpec> = {}): Promise<AgentExecution> =>
    kube.create(agentExecutions, execution(name, spec));
  const until = (name: string, done: (execution: AgentExecution) => boolean): Promise<AgentExecution> =>
    waitForObject(kube, { resource: agentExecutions, namespace, name }, done, { timeoutMs: 120_000 });
  const over = (name: string): Promise<AgentExecution> =>
    until(name, ({ status }) => status?.finished_at !== undefined);
  const podOf = async (name: string, attempt = 1): Promise<Pod> => {
    const { status } = await until(
      name,
      (now) => now.status?.pod?.uid !== undefined && now.status.pod.attempt === attempt,
    );
    return kube.get(pods, { namespace, name: status?.pod?.name ?? '' });
  };
  const running = async (name: string, attempt = 1): Promise<Pod> => {
    const { metadata } = await podOf(name, attempt);
    const isRunning = ({ status }: Pod): boolean => status?.containerStatuses?.[0]?.state?.running !== undefined;
    const target = { resource: pods, namespace, name: metadata.name ?? '' };
    return waitForObject(kube, target, isRunning, { timeoutMs: 120_000 });
  };
  const path = (name = ''): string => `/apis/windlass.dev/v1/namespaces/${namespace}/agentexecutions/${name}`;
  const patch = (name: string, spec: object, as?: string): Promise<Answer> =>
    send('PATCH', path(name), { spec }, { ...mergePatch, ...(as === undefined ? {} : { as }) });
  const make = (name: string, spec: object, as?: string): Promise<Answer> =>
    send('POST', `${path()}?dryRun=All`, execution(name, spec), as === undefined ? {} : { as });
  const podsGone = (name: string): Promise<unknown> =>
    waitForNone(
      kube,
      { resource: pods, namespace, labelSelector: `windlass.dev/agent-execution=${name}` },
      { timeoutMs: 120_000 },
    );

  it('AMB-017 an execution runs the bootstrap in a pod whose only credential is a token for our audience', async () => {
    const { metadata } = await start('exact');
    const pod = await running('exact');
    const { status } = await kube.get(agentExecutions, { namespace, name: 'exact' });
    expect(status).toMatchObject({
      phase: 'running',
      agent: { name: 'files' },
      pod: { uid: pod.metadata.uid, attempt: 1 },
    });
    expect(pod.metadata.labels).toMatchObject({
      'windlass.dev/agent-execution': 'exact',
      'windlass.dev/execution-uid': metadata.uid,
    });
    expect(pod.spec).toMatchObject({
      serviceAccountName: 'windlass-agent',
      automountServiceAccountToken: false,
      restartPolicy: 'Never',
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    const [container] = pod.spec.containers;
    expect(container?.command).toEqual(['/windlass/runner', 'agent']);
    expect(container?.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    });
    const tokens = pod.spec.volumes?.flatMap(({ projected }) => projected?.sources ?? []);
    expect(tokens).toEqual([
      { serviceAccountToken: { audience: 'windlass-agents', expirationSeconds: 600, path: 'token' } },
    ]);
    expect((await patch('exact', { result }, api)).status).toBe(200);
    expect((await over('exact')).status).toMatchObject({ phase: 'completed', score: 0.5, iterations: 2 });
    await podsGone('exact');
  });

  it('design §12 an agent without such tools has no pod', async () => {
    await start('talk', { agent: 'talker' });
    await until('talk', ({ status }) => status?.phase === 'running');
    expect((await patch('talk', { result }, api)).status).toBe(200);
    expect((await over('talk')).status).not.toHaveProperty('pod');
  });

  it('WF-AGENT-04 an execution that is cancelled ends, and its pod with it', async () => {
    await start('cancelled');
    await running('cancelled');
    await kube.mergePatch(
      agentExecutions,
      { namespace, name: 'cancelled' },
      {
        spec: { cancel: { by: (await whoAmI()) ?? '', at: result.at } },
      },
    );
    expect((await over('cancelled')).status).toMatchObject({ phase: 'cancelled', reason: 'Cancelled' });
    await podsGone('cancelled');
  });

  const whoAmI = async (): Promise<string | undefined> => {
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const { body } = await send('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', review);
    return (body as { status?: { userInfo?: { username?: string } } }).status?.userInfo?.username;
  };

  it('an execution fails at its deadline', async () => {
    await start('late', { timeout: '3s' });
    expect((await over('late')).status).toMatchObject({ phase: 'failed', reason: 'Timeout' });
    await podsGone('late');
  });

  it('WF-AGENT-04 AMB-081 isolation that is not configured is refused, never downgraded', async () => {
    for (const isolation of ['firecracker', 'process'] as const) {
      await start(isolation, { isolation });
      expect((await over(isolation)).status).toMatchObject({ phase: 'failed', reason: 'IsolationUnavailable' });
    }
  });

  // These wait for most of their time, each for an execution of its own.
  it.concurrent('an execution of an agent that does not exist fails', async () => {
    await start('lost', { agent: 'nobody' });
    expect((await over('lost')).status).toMatchObject({ phase: 'failed', reason: 'AgentNotFound' });
  });

  it.concurrent('AMB-197 a pod that is evicted is replaced three times, then the execution fails', async () => {
    await start('evicted');
    const uids = new Set<string>();
    for (const attempt of [1, 2, 3, 4]) {
      const pod = await running('evicted', attempt);
      uids.add(pod.metadata.uid ?? '');
      const metadata = { name: pod.metadata.name, namespace };
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata };
      const where = `/api/v1/namespaces/${namespace}/pods/${metadata.name}/eviction`;
      expect((await send('POST', where, eviction)).status).toBe(201);
    }
    expect((await over('evicted')).status).toMatchObject({ phase: 'failed', reason: 'PodLost', pod: { attempt: 4 } });
    expect(uids.size).toBe(4);
  });

  it('an image that cannot be pulled is said in the words of Kubernetes', async () => {
    await anAgent('no-image', { runtime: { image: 'windlass.local/no-such:1' }, tools: [{ name: 'cmd' }] });
    await start('no-image', { agent: 'no-image', timeout: '2m' });
    const { status } = await until('no-image', (now) => now.status?.reason === 'WaitingForImage');
    expect(status?.message).toContain('no-such');
  });

  describe('who may write what', () => {
    beforeAll(() => start('ruled', { agent: 'talker', volumes: [] }));

    it('spec.result: the API alone, once', async () => {
      for (const as of [undefined, controllers, api.replace('windlass-api', 'windlass-gateway'), 'ann']) {
        expect(await patch('ruled', { result }, as)).toMatchObject({
          status: 403,
          message: expect.stringContaining('spec.result: is written by the Windlass API only'),
        });
      }
      expect(await make('with-result', { result }, api)).toMatchObject({ status: 422 });
      // A second attempt of the test needs a name of its own.
      const name = `once-${Date.now()}`;
      await start(name, { agent: 'talker' });
      expect(await patch(name, { result }, api)).toMatchObject({ status: 200 });
      const again = await patch(name, { result: { ...result, score: 1 } }, api);
      expect(again).toMatchObject({ status: 422, message: expect.stringContaining('result: is written once') });
    });

    it('spec.parent: the controllers alone', async () => {
      for (const as of [undefined, api, 'ann']) {
        expect((await make('child', { parent }, as)).status).toBe(403);
        expect((await patch('ruled', { parent }, as)).status).toBe(403);
      }
      expect((await make('child', { parent }, controllers)).status).toBe(201);
    });

    it('spec.cancel.by: its writer, or the API for a user', async () => {
      const cancel = { by: 'bob', at: result.at };
      expect((await patch('ruled', { cancel }, 'ann')).message).toContain('must be ann');
      expect((await patch('ruled', { cancel: { by: 'ann', at: result.at, via: 'api' } }, 'ann')).status).toBe(403);
      expect((await make('stopped', { cancel }, api)).status).toBe(201);
    });

    it.each([
      ['agent', { agent: 'files' }],
      ['input', { input: 'other' }],
      ['isolation', { isolation: 'docker' }],
      ['volumes', { volumes: [{ volume: 'v', mount_path: '/v', access_mode: 'read-only' }] }],
    ])('spec.%s: immutable after creation', async (_field, spec) => {
      expect((await patch('ruled', spec)).status).toBe(422);
    });

    it('status: the controllers alone', async () => {
      const status = { phase: 'completed' };
      const answer = await send('PATCH', `${path('ruled')}/status`, { status }, { ...mergePatch, as: 'ann' });
      expect(answer.status).toBe(403);
    });

    it('the label of agents’ pods: the controllers alone', async () => {
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'spy', labels: { 'windlass.dev/agent-execution': 'x' } },
        spec: {
          securityContext: { runAsNonRoot: true, runAsUser: 1_000, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: 'c',
              image: 'busybox',
              securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
            },
          ],
        },
      };
      const answer = await send('POST', `/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod);
      expect(answer).toMatchObject({ status: 403, message: expect.stringContaining('windlass.dev/agent-execution') });
    });

    it('design §12 tokens of the agents’ account: nodes alone', async () => {
      const request = {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { audiences: ['windlass-agents'] },
      };
      const token = (name: string, as?: string): Promise<Answer> => {
        const where = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
        return send('POST', where, request, as === undefined ? {} : { as });
      };
      for (const as of [undefined, controllers, api, 'ann']) {
        expect(await token('windlass-agent', as)).toMatchObject({
          status: 403,
          message: expect.stringContaining('requested by nodes only'),
        });
      }
      expect((await token('default')).status).toBe(201);
    });

    it('design §12 no Secret that Kubernetes would fill with a token of the agents’ account', async () => {
      const secret = (account: string, type = 'kubernetes.io/service-account-token') => ({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'spare', annotations: { 'kubernetes.io/service-account.name': account } },
        type,
      });
      const made = (body: object): Promise<Answer> =>
        send('POST', `/api/v1/namespaces/${namespace}/secrets?dryRun=All`, body);
      expect(await made(secret('windlass-agent'))).toMatchObject({
        status: 403,
        message: expect.stringContaining('requested by nodes only'),
      });
      expect((await made(secret('default'))).status).toBe(201);
      expect((await made(secret('windlass-agent', 'Opaque'))).status).toBe(201);
    });
  });

  it('design §12 the account of agents may do nothing in the cluster', async () => {
    const as = `system:serviceaccount:${namespace}:windlass-agent`;
    const own = { as, rights: 'own' } as const;
    for (const where of ['pods', 'secrets', 'configmaps', 'serviceaccounts']) {
      expect((await send('GET', `/api/v1/namespaces/${namespace}/${where}`, undefined, own)).status).toBe(403);
    }
    expect((await send('GET', path(), undefined, own)).status).toBe(403);
  });
});
