import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWindlassClient } from '../../../client/index.ts';
import { apiVersion } from '../../../crds/labels.ts';
import type { AgentSpec } from '../../../crds/schema/agent.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { securityContexts } from '../../../lib/kinds.ts';
import { podsOf } from '../chart/release.ts';
import { type GatewayStage, openGatewayStage } from '../gateway/stage.ts';
import { isNativeCluster } from '../harness/cluster.ts';
import { agentExecutions, agents } from '../harness/kinds.ts';
import { waitForObject } from '../harness/wait.ts';
import { attestAsPod } from './node-config/attested-pod.ts';
import { type Change, configure, restore } from './node-config/configure.ts';
import { type ModelServers, startModelServers, type Wish } from './node-config/model-servers.ts';

const scripted = (more: Partial<AgentSpec> = {}): AgentSpec => ({
  version: '1.0.0',
  task: { instruction: 'You say what your input says.' },
  ...more,
});
const list = { name: 'svc.script.list' };
const judged = [list, { name: 'svc.script.save' }, { name: 'notes.*' }];
const agentsOfTest: Readonly<Record<string, AgentSpec>> = {
  plain: scripted({ tools: [list] }),
  fast: scripted({ runtime: { model: 'fast' } }),
  house: scripted({ runtime: { model: 'house-own' } }),
  asks: scripted({ tools: [list], approval: { tools: [list.name], timeout_seconds: 3_600 } }),
  signs: scripted({
    tools: [...judged, { name: 'fs.read' }],
    approval: { tools: [list.name] },
    execution: { tool_validation: { enabled: true } },
    // No registry has it: no runner takes the session of the pod before the test does.
    runtime: { image: 'registry.invalid/absent:1' },
  }),
  judged: scripted({ tools: judged, execution: { tool_validation: { enabled: true } } }),
};
const looks = { name: list.name, arguments: {} };
const code = '# forbidden';
/** Calls of which the judge refuses each that it sees, and whether it sees them by default. */
const forbidden = [
  [{ name: 'svc.script.list', arguments: { q: 'forbidden' } }, false],
  [{ name: 'svc.script.save', arguments: { name: 'by-agent', code } }, true],
  [{ name: 'notes.add', arguments: { text: 'forbidden' } }, true],
  [{ name: 'notes.list', arguments: { why: 'forbidden' } }, true],
] as const;

/** Several node configurations, one after the other. Needs the installation of dev/demo/install. */
describe.runIf(isNativeCluster())('an installation whose node configuration changes', () => {
  let stage: GatewayStage;
  let servers: ModelServers;
  /** One that waits for a person since the first configuration. */
  let early: string;
  let wishes = 0;

  beforeAll(async () => {
    stage = await openGatewayStage('node-config');
    const { kube, tenant: namespace, desk } = stage;
    servers = await startModelServers(kube, desk.image);
    const context = { apiVersion, kind: 'SecurityContext', metadata: { name: 'open', namespace }, spec: {} } as const;
    await kube.create(securityContexts, context);
    for (const [name, spec] of Object.entries(agentsOfTest))
      await kube.create(agents, { apiVersion, kind: 'Agent', metadata: { name, namespace }, spec });
  }, 300_000);
  afterAll(async () => {
    if (stage !== undefined) await restore();
    await servers?.remove();
    await stage?.strike();
  }, 600_000);

  const change = (fields: Omit<Change, 'tenant'>): Promise<void> =>
    configure(servers, { ...fields, tenant: stage.tenant });

  /** Starts an execution; its name is the id of its wish. */
  async function start(agent: string, wish: Omit<Wish, 'id'> = {}): Promise<string> {
    const id = `${agent}-${(wishes += 1)}`;
    const metadata = { name: id, namespace: stage.tenant };
    const spec = { agent, input: JSON.stringify({ id, ...wish }) };
    await stage.kube.create(agentExecutions, { apiVersion, kind: 'AgentExecution', metadata, spec });
    return id;
  }

  const until = (name: string, done: (execution: AgentExecution) => boolean): Promise<AgentExecution> =>
    waitForObject(stage.kube, { resource: agentExecutions, namespace: stage.tenant, name }, done, {
      timeoutMs: 60_000,
    });

  async function ended(id: string) {
    const { spec } = await until(id, ({ status }) => status?.finished_at !== undefined);
    return { ...spec.result, asked: await servers.asked(id) };
  }
  const run = async (agent: string, wish?: Omit<Wish, 'id'>) => ended(await start(agent, wish));

  async function approve(name: string): Promise<void> {
    const { kube, tenant: namespace } = stage;
    const { username: by } = await kube.whoAmI();
    const { spec } = await kube.get(agentExecutions, { namespace, name });
    const signals = [{ id: spec.ask?.id, response: 'approved', by, at: new Date().toISOString() }];
    await kube.mergePatch(agentExecutions, { namespace, name }, { spec: { signals } });
  }

  /** Address of a replica of the API as it runs now. */
  async function api(): Promise<string> {
    const [replica] = await podsOf(stage.kube, 'api');
    return `http://${replica?.status?.podIP}:8080`;
  }

  /** How each call of a judged agent ended: `refused` by the judge, or `ran`. */
  async function judge(calls: NonNullable<Wish['calls']>): Promise<readonly string[]> {
    const id = await start('judged', { calls });
    await ended(id);
    const client = createWindlassClient({ server: await api(), token: await stage.token([]) });
    const { records } = await client.readAgentTranscript({ execution_id: id });
    return (records as unknown as { kind: string; content: string; ran: boolean }[])
      .filter(({ kind }) => kind === 'tool_ended')
      .map(({ content, ran }) => (ran ? 'ran' : content.replace(/^ToolCallRefused: .*$/, 'refused')));
  }

  describe('failover', () => {
    beforeAll(() => change({ strategy: 'failover', default_provider: 'one' }), 600_000);

    it('LLM-02 LLM-15 asks the default provider of the alias, which is default where the agent names none', async () => {
      expect(await run('plain')).toMatchObject({ output: 'one one-1', provider: 'one', asked: ['one'] });
      expect(await run('fast')).toMatchObject({ output: 'one one-2', asked: ['one'] });
      expect(await run('house')).toMatchObject({ output: 'two two-3', asked: ['two'] });
    });

    // Five failures in a row would have a replica leave the provider alone for a while.
    it.each([
      [0, 'one', ['one', 'one']],
      [1, 'one', ['one', 'one', 'one']],
      [2, 'two', ['one', 'one', 'two', 'two']],
    ])('LLM-15 LLM-16 LLM-19 after %i failures %s gives both answers', async (one, provider, asked) => {
      const ended = await run('plain', { fails: { one }, calls: [looks] });
      expect(ended).toMatchObject({ phase: 'completed', output: `${provider} ${provider}-1`, provider, asked });
    });

    it('LLM-16 fails where the only provider of the alias fails more often than it is tried again', async () => {
      const failed = await run('house', { fails: { two: 2 } });
      expect(failed).toMatchObject({ phase: 'failed', reason: 'ProviderUnavailable', asked: ['two', 'two'] });
    });

    it('TOOL-RULE-04 judges by the defaults where the operator says nothing', async () => {
      const want = forbidden.map(([, isSeen]) => (isSeen ? 'refused' : 'ran'));
      expect(await judge(forbidden.map(([call]) => call))).toEqual(want);
    });

    it('TOOL-RULE-03 no judge sees the same call of a signer from outside', async () => {
      const session = await stage.session({ context: 'open' });
      const args = { name: 'by-signer', code };
      const called = await stage.call(session, { tool: 'svc.script.save', args, path: '/v1/seal/invoke' });
      expect(called).toMatchObject({ status: 200, result: { isError: false } });
    });

    it('TOOL-RULE-03 no judge sees the same call that the pod of an agent signs itself', async () => {
      const id = await start('signs', { calls: [looks] });
      const execution = await until(id, ({ status }) => status?.phase === 'waiting' && status.pod?.uid !== undefined);
      const session = await attestAsPod(stage.kube, execution);
      const call = { tool: 'svc.script.save', args: { name: 'by-pod', code }, path: '/v1/seal/invoke' } as const;
      const called = await stage.call(session, call, await api());
      expect(called).toMatchObject({ status: 200, result: { isError: false } });
    });

    it('LLM-19 begins an execution that the next configuration finds', async () => {
      early = await start('asks', { calls: [looks] });
      await until(early, ({ status }) => status?.phase === 'waiting');
      expect(await servers.asked(early)).toEqual(['one']);
    });
  });

  describe('prefer-local', () => {
    const builtin = { 'svc.script.list': false, 'svc.script.save': true };
    beforeAll(
      () =>
        change({ strategy: 'prefer-local', default_provider: 'two', skip_judge: { builtin, notes: { add: true } } }),
      600_000,
    );

    it('LLM-19 the execution under way keeps its provider over the restart, and a new one gets the new mapping', async () => {
      await approve(early);
      expect(await ended(early)).toMatchObject({ output: 'one one-1', provider: 'one', asked: ['one', 'one'] });
      expect(await run('plain')).toMatchObject({ output: 'home home-1', provider: 'home', asked: ['home'] });
    });

    it('LLM-13 asks a cloud where no local provider has the alias, the default first', async () => {
      expect(await run('fast')).toMatchObject({ output: 'two two-2', asked: ['two'] });
    });

    it('LLM-13 sends nothing to a cloud that was meant for the local provider', async () => {
      expect(await run('plain', { fails: { home: 1 } })).toMatchObject({ provider: 'home', asked: ['home', 'home'] });
      const failed = await run('plain', { fails: { home: 2 } });
      expect(failed).toMatchObject({ phase: 'failed', reason: 'ProviderUnavailable', asked: ['home', 'home'] });
    });

    it('TOOL-RULE-04 judges what the operator says, of built-in tools and of an MCP server', async () => {
      expect(await judge(forbidden.map(([call]) => call))).toEqual(['refused', 'ran', 'ran', 'refused']);
    });
  });

  describe('round-robin', () => {
    beforeAll(() => change({ strategy: 'round-robin', default_provider: 'one' }), 600_000);

    it('LLM-14 spreads executions over the providers of the alias, each replica by itself', async () => {
      const replicas = (await podsOf(stage.kube, 'api')).length;
      const names: string[] = [];
      for (let count = 0; count < 8; count += 1) names.push(await start('fast'));
      const results = await Promise.all(names.map(ended));
      const by = (name: string): number => results.filter(({ provider }) => provider === name).length;
      expect(by('one') + by('two')).toBe(8);
      expect(Math.abs(by('one') - by('two'))).toBeLessThanOrEqual(replicas);
      expect(await run('house')).toMatchObject({ asked: ['two'] });
    });
  });
});
