import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Agent, AgentSpec } from '../../../crds/schema/agent.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { annotations, apiVersion, labels } from '../../../crds/labels.ts';
import { agentExecutions, agents } from '../../../lib/kinds.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import { connect } from '../harness/cluster.ts';
import { waitForObject } from '../harness/wait.ts';

const namespace = 'tenant-demo';

/** Needs the installation of dev/demo/install, with the scripted model as its only provider. */
describe('an agent that judges the answers of another one, through the whole system', () => {
  let kube: KubeClient;

  beforeAll(async () => {
    ({ kube } = await connect());
    const validation = { agent: 'judge-of-tests', threshold: 0.7, criteria: 'It names the timeout.' };
    // The namespace lasts: an earlier run may have left the agents with other content. Neither names a runtime.
    const all: Readonly<Record<string, Omit<AgentSpec, 'version'>>> = {
      'judged-by-agent': { task: { instruction: 'You say what your input says.' }, execution: { validation } },
      'judge-of-tests': { task: { instruction: 'You judge the accuracy of an answer.' } },
    };
    for (const [name, spec] of Object.entries(all)) {
      const metadata = { name, namespace, annotations: { [annotations.force]: 'true' } };
      const object: Agent = { apiVersion, kind: 'Agent', metadata, spec: { version: '1.0.0', ...spec } };
      await kube.apply(agents, object, { fieldManager: 'test', force: true });
    }
  });
  afterAll(() => kube.close());

  it('AGENT-13 the judge refuses the first answer, and accepts the second one; both run on the model default', async () => {
    // The judge sees this text as it is here, and the words that it refuses in the answer alone.
    const input = '[{"content": "First\\u0020draft"}, {"content": "From 60 s to 30 s."}]';
    const name = `judged-${Date.now().toString(36)}`;
    const spec = { agent: 'judged-by-agent', input };
    await kube.create(agentExecutions, {
      apiVersion,
      kind: 'AgentExecution',
      metadata: { name, namespace },
      spec,
    });
    const ref = { resource: agentExecutions, namespace, name };
    const { metadata, spec: judged } = await waitForObject(
      kube,
      ref,
      ({ status }) => status?.finished_at !== undefined,
      {
        timeoutMs: 120_000,
      },
    );
    expect(judged.result).toMatchObject({
      phase: 'completed',
      output: 'From 60 s to 30 s.',
      score: 0.9,
      iterations: 2,
      provider: 'scripted',
    });
    const { items } = await kube.listAll(agentExecutions, {
      namespace,
      labelSelector: `${labels.parentUid}=${metadata.uid}`,
    });
    const byIteration = items.toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name));
    expect(byIteration.map(answerOf)).toEqual(['First draft', 'From 60 s to 30 s.']);
    for (const judge of items) {
      expect(judge.metadata.ownerReferences).toMatchObject([{ kind: 'AgentExecution', uid: metadata.uid }]);
      expect(judge.spec.result).toMatchObject({ phase: 'completed' });
    }
    const tokens = (one: AgentExecution): number => one.spec.result?.input_tokens ?? 0;
    expect(judged.result?.input_tokens).toBeGreaterThan(items.reduce((sum, one) => sum + tokens(one), 0));
  });
});

const answerOf = ({ spec }: AgentExecution): unknown =>
  (JSON.parse(spec.input ?? '') as { readonly answer: string }).answer;
