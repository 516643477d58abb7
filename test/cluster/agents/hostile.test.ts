import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Agent } from '../../../crds/schema/agent.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { agentExecutions, agents } from '../../../lib/kinds.ts';
import { events, type KubeClient, type Pod, pods } from '../../../lib/kube/index.ts';
import { connect } from '../harness/cluster.ts';
import { projectDir } from '../harness/project.ts';
import { makeTestNamespace, type TestNamespace } from '../harness/test-namespace.ts';
import { waitForObject } from '../harness/wait.ts';
import { secretTexts } from './canaries/secret-texts.ts';

const run = promisify(execFile);
const namespace = 'tenant-demo';
const system = 'windlass-system';
const id = Date.now().toString(36);
const maxBuffer = 256 * 1024 * 1024;
const sleep = { name: 'cmd.run', arguments: { command: 'node', args: ['-e', 'setTimeout(String, 250_000)'] } };
/** Two commands, one after the other, each longer than a test. */
const twoSleeps = JSON.stringify([{ tool_calls: [sleep] }, { tool_calls: [sleep] }, { content: 'rested' }]);

/** The report of test/cluster/agents/stranger.mjs. */
interface Seen {
  readonly verdicts: Readonly<Record<string, number | string>>;
  readonly counts: Readonly<Record<string, number>>;
  readonly answers: readonly string[];
  readonly seen: readonly string[];
}

/** Needs the installation of dev/demo/install, with the scripted model as its only provider. */
describe('a stranger in the pod of an agent', () => {
  let kube: KubeClient;
  let forward: ChildProcess;
  let server = '';
  let token = '';
  let victims: TestNamespace;
  let host: AgentExecution;
  let neighbour: AgentExecution;
  let others: string;
  let seen: Seen;
  /** Milliseconds of an agent of another tenant, alone and while the stranger is at it. */
  const times: Record<'alone' | 'beside', number> = { alone: 0, beside: 0 };

  const until = (place: string, name: string, done: (execution: AgentExecution) => boolean): Promise<AgentExecution> =>
    waitForObject(kube, { resource: agentExecutions, namespace: place, name }, done, { timeoutMs: 150_000 });
  const end = (place: string, name: string) => until(place, name, ({ status }) => status?.finished_at !== undefined);
  const start = (place: string, agent: string, name: string, input = 'Keep two notes.'): Promise<AgentExecution> =>
    kube.create(agentExecutions, {
      apiVersion: 'windlass.dev/v1',
      kind: 'AgentExecution',
      metadata: { name: `${name}-${id}`, namespace: place },
      spec: { agent, input },
    });
  const apply = async (place: string, name: string, spec: Agent['spec']): Promise<void> => {
    const object: Agent = { apiVersion: 'windlass.dev/v1', kind: 'Agent', metadata: { name, namespace: place }, spec };
    await kube.apply(agents, object, { fieldManager: 'test', force: true });
  };
  async function timed(name: string): Promise<number> {
    const begun = performance.now();
    await start(victims.name, 'writer', name);
    expect((await end(victims.name, `${name}-${id}`)).spec.result).toMatchObject({ phase: 'completed' });
    return performance.now() - begun;
  }
  async function waiting(name: string): Promise<AgentExecution> {
    await start(namespace, 'hosting-keeper', name);
    await until(namespace, `${name}-${id}`, ({ status }) => status?.phase === 'waiting');
    return inRunningPod(name);
  }
  async function inRunningPod(name: string): Promise<AgentExecution> {
    const ready = await until(namespace, `${name}-${id}`, ({ status }) => status?.pod?.uid !== undefined);
    const isRunning = ({ status }: Pod): boolean => status?.containerStatuses?.[0]?.state?.running !== undefined;
    const target = { resource: pods, namespace, name: ready.status?.pod?.name ?? '' };
    await waitForObject(kube, target, isRunning, { timeoutMs: 120_000 });
    return ready;
  }

  /** An image with Node that the nodes have: in the eyes of the orchestrator, one like any other. */
  async function strangersImage(): Promise<string> {
    const { items } = await kube.listAll(pods, {
      namespace: system,
      labelSelector: 'app.kubernetes.io/name=windlass,app.kubernetes.io/component=api',
    });
    return items[0]?.spec.containers[0]?.image ?? '';
  }

  async function openServer(): Promise<void> {
    token = (await run(join(projectDir, 'dev/oidc/token'), ['--user', 'anna', '--tenant', 'demo'])).stdout.trim();
    forward = spawn('kubectl', ['-n', system, 'port-forward', 'service/windlass-api', ':8080'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (forward.stdout === null) throw new Error('no output of kubectl');
    for await (const line of createInterface({ input: forward.stdout })) {
      const port = /^Forwarding from 127\.0\.0\.1:(\d+)/.exec(line)?.[1];
      if (port === undefined) continue;
      server = `http://127.0.0.1:${port}`;
      return;
    }
  }
  const http = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(server + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  /** Runs test/cluster/agents/stranger.mjs in the container of the execution. */
  async function inPod({ status }: AgentExecution, more: readonly string[] = []): Promise<string> {
    const script = readFileSync(join(projectDir, 'test/cluster/agents/stranger.mjs'), 'utf8');
    const node = ['/usr/local/bin/node', '--no-warnings', '--input-type=module', '--eval', script];
    const pod = ['exec', '-n', namespace, status?.pod?.name ?? '', '--'];
    const given = [...pod, ...node, 'stranger', others, ...more];
    // It is killed where its execution ends first.
    const running = run('kubectl', given, { maxBuffer, timeout: 180_000 });
    const ran = await running.catch((error: { stdout: string }) => error);
    return ran.stdout;
  }
  const approve = (id: string): Promise<Response> => http('POST', `/v1/human-approvals/${id}/approve`, {});

  beforeAll(async () => {
    ({ kube } = await connect());
    await openServer();
    victims = await makeTestNamespace(kube, 'agent-victims');
    const file = join(projectDir, 'examples/agents/note-keeper.yaml');
    const { spec } = parse(readFileSync(file, 'utf8')) as Agent;
    const runtime = { ...spec.runtime, image: await strangersImage() };
    const approval = { tools: ['cmd'], timeout_seconds: 600 };
    await apply(namespace, 'hosting-keeper', { ...spec, version: `1.0.0-${id}`, runtime, approval });
    await apply(namespace, 'hosting-sleeper', {
      version: `1.0.0-${id}`,
      runtime,
      task: { instruction: 'You say what your input says.' },
      tools: [{ name: 'cmd', executor: 'builtin:cmd', config: { subcommand_allowlist: { node: ['-e'] } } }],
    });
    await apply(victims.name, 'writer', {
      version: '1.0.0',
      runtime: { model: 'default' },
      task: { instruction: 'You write release notes.' },
    });
    await apply(victims.name, 'keeper', { ...spec, approval });
    await start(victims.name, 'keeper', 'victim');
    const victim = await until(victims.name, `victim-${id}`, ({ status }) => status?.phase === 'waiting');
    await start(namespace, 'hosting-sleeper', 'neighbour', twoSleeps);
    neighbour = await inRunningPod('neighbour');
    host = await waiting('host');
    times.alone = await timed('alone');
    others = JSON.stringify({ victim: victim.metadata.uid, neighbour: neighbour.metadata.uid });
    const stranger = inPod(host);
    times.beside = await timed('beside');
    seen = JSON.parse(await stranger) as Seen;
  }, 400_000);

  afterAll(async () => {
    await victims?.remove();
    forward?.kill();
    await (forward && once(forward, 'exit'));
    await kube.close();
  });

  it('AMB-017 AMB-038 ATTEST-01 is refused every attestation but that of its own pod, agent and key', () => {
    expect(seen.verdicts).toMatchObject({
      'attest for another tenant': 403,
      'attest for another tenant by address': 403,
      'attest for a neighbour': 403,
      'attest for an unknown execution': 404,
      'attest as another agent': 403,
      'attest as another container': 403,
      'attest a second key': 409,
      'attest a weak key': 400,
      'attest with a made-up token': 403,
      'attest with an unsigned token': 403,
    });
  });

  it('AMB-038 AMB-198 reports nothing that it was not asked for, and asks for no other', () => {
    expect(seen.verdicts).toMatchObject({
      'report for another tenant': 403,
      'report for a neighbour': 403,
      'report of five MiB': 400,
      'report of a negative time': 400,
      'report of a hundred thousand levels': 400,
      'report of ten MiB': 413,
      'report that is no JSON': 400,
      'ask for another tenant': 403,
      'ask another model': 403,
      'ask with words of the model': 400,
    });
    // The conversation is with no replica while it waits for a person: the report waits, and is not taken.
    expect([204, 404]).toContain(seen.verdicts['report of no command']);
  });

  it('its token opens nothing at the API server, and no metadata address answers', () => {
    expect(seen.verdicts['the API server with the token']).not.toBe(200);
    expect(seen.verdicts['the metadata address']).not.toBe(200);
  });

  it('is answered by refusals alone when it floods, and holds up no agent of another tenant', () => {
    expect(Object.keys(seen.counts).filter((status) => !['204', '403', '404', '429', '503'].includes(status))).toEqual(
      [],
    );
    expect(times.beside).toBeLessThan(Math.max(5_000, times.alone * 5));
  });

  it('changes nothing: the call waits as before, runs once it is approved over HTTP, and gives its own result', async () => {
    const { name, uid } = host.metadata;
    const { spec } = await kube.get(agentExecutions, { namespace, name });
    const request = spec.ask?.id ?? '';
    const listed = (await (await http('GET', '/v1/human-approvals')).json()) as {
      pending_requests: readonly { readonly id: string; readonly execution_id: string }[];
    };
    expect(listed.pending_requests).toContainEqual(expect.objectContaining({ id: request, execution_id: uid }));
    expect((await approve(request)).status).toBe(200);
    const ended = await end(namespace, name);
    expect(ended.spec.result).toMatchObject({
      phase: 'completed',
      tool_calls: 3,
      output: 'notes.txt holds 2 notes; the last one is: second note.',
    });
    expect(ended.spec.signals).toMatchObject([{ id: request, response: 'approved', via: 'api' }]);
    expect((await approve(request)).status).toBe(404);
  });

  it('AMB-038 DISPATCH-12 says once how a command of its own pod ended, and what it says stays with its own execution', async () => {
    const { name } = neighbour.metadata;
    // The runner sleeps with the first command, which its pod gets again.
    const [first, same, other, unknown] = JSON.parse(await inPod(neighbour, ['steal'])) as unknown[];
    // Two reports that differ are never both taken, and one of no command never is.
    expect([first, same, other].filter((status) => status === 409)).toHaveLength(first === 409 ? 2 : 1);
    expect(same).toBe(first);
    expect(unknown).toBe(404);
    const { spec } = await end(namespace, name);
    expect(spec.result).toMatchObject({ phase: 'completed', tool_calls: 2, output: 'rested' });
    expect((await kube.get(agentExecutions, { namespace: victims.name, name: `victim-${id}` })).status?.phase).toBe(
      'waiting',
    );
  });

  it('finds no secret of the installation: in no pod, log, transcript, event, object or answer', async () => {
    const canaries = await secretTexts(kube, system);
    expect(canaries.size).toBeGreaterThanOrEqual(6);
    const { name, uid } = host.metadata;
    const transcript = await http('GET', `/v1/executions/${uid}/transcript`);
    expect(transcript.status).toBe(200);
    const haystacks: Readonly<Record<string, string>> = {
      'the pod': seen.seen.join('\n'),
      answers: seen.answers.join('\n'),
      transcript: await transcript.text(),
      execution: JSON.stringify(await kube.get(agentExecutions, { namespace, name })),
      pods: JSON.stringify((await kube.listAll(pods, { namespace })).items),
      events: JSON.stringify([
        (await kube.listAll(events, { namespace })).items,
        (await kube.listAll(events, { namespace: system })).items,
      ]),
      logs: await logs(),
    };
    expect(haystacks['the pod']).toContain('WINDLASS_EXECUTION_ID');
    expect(haystacks['logs']?.length).toBeGreaterThan(100);
    for (const [place, text] of Object.entries(haystacks))
      for (const [secret, canary] of canaries)
        expect(`${place}: ${text.includes(canary) ? secret : 'none'}`).toBe(`${place}: none`);
  });

  async function logs(): Promise<string> {
    const selector = ['logs', '-n', system, '--prefix', '--tail=20000', '--max-log-requests=20', '-l'];
    return (await run('kubectl', [...selector, 'app.kubernetes.io/name=windlass'], { maxBuffer })).stdout;
  }
});
