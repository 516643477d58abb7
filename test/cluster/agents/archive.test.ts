import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { agentExecutions, agents } from '../../../lib/kinds.ts';
import { findObject, type KubeClient } from '../../../lib/kube/index.ts';
import { anAgent } from '../../builders/agent-builder.ts';
import { runCli } from '../../support/cli.ts';
import { connect } from '../harness/cluster.ts';
import { type InstalledApi, openInstalledApi } from '../harness/installed-api.ts';
import { pause, waitForObject } from '../harness/wait.ts';

const namespace = 'tenant-demo';
const id = Date.now().toString(36);
const agent = `kept-${id}`;

type Frame = Readonly<Record<string, unknown>>;

/** Needs the installation of dev/demo/install, with the scripted model as its only provider. */
describe('AMB-174 executions of agents that are gone, through the whole system', () => {
  let kube: KubeClient;
  let api: InstalledApi;

  beforeAll(async () => {
    ({ kube } = await connect());
    api = await openInstalledApi('anna');
    const { metadata, ...definition } = anAgent(agent, {
      // The scripted model answers this one.
      task: { instruction: 'You route events to workflows. {{input}}' },
      execution: { max_iterations: 1 },
    });
    await kube.create(agents, { ...definition, metadata: { name: metadata.name, namespace } });
  }, 120_000);
  afterAll(async () => {
    await kube.delete(agents, { namespace, name: agent });
    await api?.close();
    await kube.close();
  });

  const get = (path: string): Promise<Response> =>
    fetch(`${api.server}/v1/executions${path}`, { headers: { authorization: `Bearer ${api.token}` } });
  const json = async (path: string): Promise<Frame> => (await (await get(path)).json()) as Frame;

  async function eventsOf(uid: string, which: 'stream' | 'events'): Promise<Frame[]> {
    const text = await (await get(`/${uid}/${which}`)).text();
    return text
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice('data: '.length)) as Frame);
  }

  /** A test that is tried again starts others. */
  const nameOf = (letter: string): string => `${agent}-${letter}${Date.now().toString(36)}`;

  /** Starts an execution, and resolves with it once it has ended. */
  async function ended(name: string, spec: Partial<AgentExecution['spec']>): Promise<AgentExecution> {
    const head = { apiVersion: 'windlass.dev/v1', kind: 'AgentExecution', metadata: { name, namespace } } as const;
    await kube.create(agentExecutions, { ...head, spec: { agent, input: 'The shop is down.', ...spec } });
    const isOver = ({ status }: AgentExecution): boolean => status?.archived_at !== undefined;
    return waitForObject(kube, { resource: agentExecutions, namespace, name }, isOver, { timeoutMs: 120_000 });
  }

  async function gone(name: string): Promise<void> {
    while ((await findObject(kube, agentExecutions, { namespace, name })) !== undefined) await pause(200);
  }

  it('answer as before, by id and by name: outcome, transcript, both streams', async () => {
    const name = nameOf('a');
    const { metadata, status } = await ended(name, { ttl_seconds_after_finished: 15 });
    const uid = metadata.uid ?? '';
    expect(status?.phase).toBe('completed');
    const read = async () => ({
      view: await json(`/${uid}`),
      transcript: await json(`/${uid}/transcript`),
      stream: await eventsOf(uid, 'stream'),
      events: await eventsOf(uid, 'events'),
    });
    const before = await read();
    expect(before.view).toMatchObject({ status: 'completed', archived: false });
    await gone(name);
    expect(await read()).toEqual({ ...before, view: { ...before.view, archived: true } });
    expect(await json(`/${name}`)).toEqual({ ...before.view, archived: true });
    expect(before.stream.at(-1)).toHaveProperty('execution_completed');
  });

  it('are in the list of the archive, and the command line reads them', async () => {
    const name = nameOf('b');
    const { metadata } = await ended(name, { ttl_seconds_after_finished: 0 });
    await gone(name);
    expect(JSON.stringify(await json(`?agent=${agent}`))).not.toContain(name);
    const { executions } = await json(`?agent=${agent}&archived=true&limit=200`);
    const row = { execution_id: metadata.uid, name, agent, status: 'completed', archived: true };
    expect(executions).toEqual(expect.arrayContaining([expect.objectContaining(row)]));
    const env = { WINDLASS_SERVER: api.server, WINDLASS_TOKEN: api.token };
    expect(await runCli(['exec', 'get', name, '-o', 'name'], env)).toMatchObject({ code: 0, out: metadata.uid });
    const list = await runCli(['exec', 'list', '--archived', '--agent', agent, '-o', 'name'], env);
    expect(list.out).toContain(metadata.uid);
    expect((await runCli(['exec', 'logs', name], env)).code).toBe(0);
  });

  it('are kept where a person deletes them', async () => {
    const name = nameOf('c');
    const { metadata } = await ended(name, {});
    await kube.delete(agentExecutions, { namespace, name });
    await gone(name);
    expect(await json(`/${metadata.uid}`)).toMatchObject({ name, archived: true });
  });
});
