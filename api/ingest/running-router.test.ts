import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { systemClock } from '../../lib/clock.ts';
import { createModels } from '../../lib/models/create-models.ts';
import { readNodeConfig } from '../../lib/node-config/index.ts';
import { executionOf, SharedExecutions, specOf } from '../../test/agents/replica.ts';
import { useReplicas } from '../../test/agents/replicas.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { type Dialect, dialects, say } from '../../test/support/model-dialects.ts';
import {
  type Answer,
  keepSilent,
  type ModelServer,
  openModelServer,
  refuse,
  type SentRequest,
} from '../../test/support/model-server.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { createRouterAgent } from './router-agent.ts';

/** A router agent that runs: its conversation is driven over a real event bus, and its model is a server. */
const replicas = useReplicas();
const [openai] = dialects as readonly [Dialect];
let server: ModelServer;
beforeAll(async () => void (server = await openModelServer()));
afterAll(() => server.close());

function modelsOf() {
  const models = [{ alias: 'default', model: 'm' }];
  const provider = { name: 'p', type: 'openai', api_key: 'a-key', endpoint: `${server.url}/v1`, models };
  const spec = { llm_providers: [provider], llm_selection: { max_retries: 0 } };
  const config = readNodeConfig(JSON.stringify({ spec }), {});
  return createModels({ clock: systemClock, logger: silentLogger, random: () => 0 }, config);
}

interface Scene {
  readonly id: string;
  readonly answer: Answer;
  /** Has the 25 seconds of a question pass. */
  readonly isLate?: boolean;
}

async function route({ id, answer, isLate = false }: Scene) {
  server.answerWith(answer);
  const shared = new SharedExecutions();
  const uid = `route-${id}`;
  const spec = specOf({ task: { instruction: 'You route events. {{intent}}' }, execution: { max_iterations: 1 } });
  const leaving = { repeatableMs: 50, callsMs: 1_000 };
  replicas.start({ shared, ask: (request) => modelsOf().ask(request), spec, leaving });
  const late = isLate ? createManualClock() : undefined;
  const clock = late ?? systemClock;
  const kube = {
    async create(_: unknown, { metadata, spec: asked }: AgentExecution) {
      const made = executionOf(uid);
      shared.put({ ...made, metadata: { ...made.metadata, ...metadata, namespace: 'acme' }, spec: asked });
      return shared.objects.get(uid);
    },
    mergePatch: async (_: unknown, __: unknown, patch: object) => void cancels.push(patch),
  };
  const cancels: object[] = [];
  const current = (): AgentExecution | undefined => shared.objects.get(uid);
  const cluster = {
    agents: { locate: async () => ({ metadata: { name: 'triage', uid: 'agent-1' } }) },
    agentExecutions: { remember: () => undefined, whole: async () => current() },
    workflows: { list: () => [{ metadata: { name: 'urgent', uid: 'uid-of-urgent' }, spec: {} }] },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- generic methods, used with one kind here
  const router = createRouterAgent({ clock, kube, cluster, current } as unknown as Parameters<
    typeof createRouterAgent
  >[0]);
  const stimulus = {
    id,
    source: { kind: 'HttpApi', name: 'tickets' },
    content: { text: 'The shop is down.' },
    headers: { 'x-lang': 'en', 'x-ticket': '7' },
    receivedAt: '2026-01-01T00:00:00.000Z',
  } as const;
  const asked = router.classify({ stimulus, tenant: 'acme', namespace: 'acme', routerAgent: 'triage' });
  const outcome = asked.catch(({ reason, message }: { reason: string; message: string }) => ({ reason, message }));
  await vi.waitFor(() => expect(server.requests).toHaveLength(1), { timeout: 20_000, interval: 20 });
  await late?.advance(25_000);
  return { outcome: await outcome, cancels };
}

const messagesOf = (request: SentRequest | undefined) =>
  (request?.body as { readonly messages: readonly { readonly content: string }[] } | undefined)?.messages ?? [];

it('ROUTE-12 ROUTE-14 ROUTE-17 is asked with the content and all headers, and its choice is the answer', async () => {
  const choice = JSON.stringify({ workflow_id: 'uid-of-urgent', confidence: 0.9 });
  const { outcome } = await route({ id: 'asked', answer: say(openai, { pieces: [choice] }) });
  expect(outcome).toMatchObject({ workflow: 'uid-of-urgent', confidence: 0.9 });
  const messages = messagesOf(server.requests[0]);
  expect(messages[0]?.content).toContain('Choose the workflow that this stimulus is for');
  const { stimulus, workflows } = JSON.parse(messages[1]?.content ?? '{}') as Record<string, unknown>;
  expect(stimulus).toEqual({
    source: 'tickets',
    received_at: '2026-01-01T00:00:00.000Z',
    headers: { 'x-lang': 'en', 'x-ticket': '7' },
    content: { text: 'The shop is down.' },
  });
  expect(workflows).toMatchObject([{ workflow_id: 'uid-of-urgent', name: 'urgent' }]);
});

it.each<readonly [string, Answer, RegExp]>([
  ['the model fails', refuse(500), /^the router agent failed: ProviderUnavailable$/],
  ['the model refuses', refuse(400), /^the router agent failed: ProviderRefused$/],
  ['the answer is another one', say(openai, { pieces: ['I cannot say.'] }), /did not answer with/],
])('ROUTE-16 fails where %s', async (what, answer, message) => {
  const { outcome } = await route({ id: what.replaceAll(' ', '-'), answer });
  expect(outcome).toMatchObject({ reason: 'ClassificationFailed', message: expect.stringMatching(message) });
});

it('ROUTE-16 fails where the model keeps silent for 25 seconds, and cancels the execution', async () => {
  const { outcome, cancels } = await route({ id: 'late', answer: keepSilent, isLate: true });
  expect(outcome).toEqual({ reason: 'ClassificationFailed', message: 'the router agent did not answer within 25 s' });
  expect(cancels).toMatchObject([{ spec: { cancel: { by: 'router' } } }]);
});
