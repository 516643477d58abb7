import { annotations, apiVersion, labels } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import type { Agent } from '../../crds/schema/agent.ts';
import type { AgentExecution, AgentResult } from '../../crds/schema/agent-execution.ts';
import type { ListedWorkflow } from '../../lib/workflow-lookup/index.ts';
import { unlessBeingDeleted } from '../../lib/being-deleted.ts';
import type { Clock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { createFairPool } from '../../lib/fair-pool.ts';
import { finished } from '../../lib/execution/finished.ts';
import { isJsonObject } from '../../lib/json-object.ts';
import { agentExecutions } from '../../lib/kinds.ts';
import { createUnlessExists, findObject, type KubeClient } from '../../lib/kube/index.ts';
import type { Stimulus } from '../../lib/stimulus/stimulus.ts';
import type { Cluster } from '../cluster/index.ts';
import type { Classifier, ClassifyRequest } from './classifier.ts';
import type { Classification } from './decide-route.ts';
import { TooManyQuestionsError } from './too-many-questions.ts';

interface RouterAgentDeps {
  readonly kube: Pick<KubeClient, 'create' | 'get' | 'mergePatch'>;
  readonly clock: Clock;
  readonly cluster: Pick<Cluster, 'agents' | 'agentExecutions' | 'workflows'>;
  /** How an execution is now, without its texts; undefined while the watch has not brought it. */
  readonly current: (uid: string) => AgentExecution | undefined;
}

/** Bounds of one question. */
const bounds = {
  /** From the creation of the execution to its answer. */
  waitMs: 25_000,
  /** The same for the execution itself, which ends a little earlier where it can. */
  timeout: '24s',
  /** How often the cache is asked; it is in memory. */
  lookMs: 50,
  /** How long one who looks into a decision finds its execution. */
  keptSeconds: 60,
  /** Questions of a replica at one time; one tenant has four fifths of them at most. */
  questions: 128,
  descriptionLength: 500,
  /** The stimulus has at least so much of the input, in UTF-16 units; workflows, with their descriptions, the rest. */
  stimulusLength: 64_000,
  /** Share of its headers: half at most. */
  headersShare: 0.5,
} as const;

const form =
  'Answer with one JSON object and nothing else: {"workflow_id": "<an id of the list>", "confidence": <0 to 1>}';

/**
 * Stage 2 of routing (spec 1 §3.2). An execution of the router agent, named after the stimulus, gets the content, the
 * headers and the tenant's workflows, and answers with a choice. It ends within 25 seconds. A question has its place among those of
 * its tenant until then, also where its sender hangs up: many senders of webhooks do so after 10 s.
 */
export function createRouterAgent(deps: RouterAgentDeps): Classifier {
  const questions = createFairPool({ size: bounds.questions, clock: deps.clock });
  return {
    async classify(request, signal) {
      using place = questions.tryEnter({ tenant: request.tenant });
      if (place === undefined) throw new TooManyQuestionsError();
      const agent = unlessBeingDeleted(await deps.cluster.agents.locate(request.tenant, request.routerAgent));
      if (agent === undefined) throw failed(`there is no agent ${request.routerAgent}`);
      const question = await startOnce(deps, request, agent);
      const ended = await waitFor(deps, question, signal);
      if (ended === undefined) {
        await cancel(deps, question);
        throw failed(`the router agent did not answer within ${bounds.waitMs / 1_000} s`);
      }
      return choiceOf(await resultOf(deps, ended), ended);
    },
  };
}

/** An execution that was asked for a choice: what is held of it while it runs. */
interface Question {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}

const failed = (message: string): AppError => new AppError('terminal', message, { reason: 'ClassificationFailed' });

/**
 * A stimulus that is routed again after a replica died finds the execution that was made for it. That of another starter
 * is not taken for it: an admission policy keeps the mark of the starter to this API.
 */
async function startOnce(deps: RouterAgentDeps, request: ClassifyRequest, agent: Agent): Promise<Question> {
  const { namespace, stimulus } = request;
  const name = `route-${stimulus.id}`;
  const wanted = executionOf(name, request, { agent, input: inputOf(deps, request) });
  request.onAsked?.();
  const created = await createUnlessExists(deps.kube, agentExecutions, wanted);
  const execution = created ?? (await findObject(deps.kube, agentExecutions, { namespace, name }));
  if (execution === undefined) throw failed('the execution of the router agent was deleted');
  if (starterOf(execution) !== starterOf(wanted))
    throw failed(`another execution has the name of that of the router agent; delete AgentExecution ${name}`);
  deps.cluster.agentExecutions.remember(execution);
  return { name, namespace, uid: execution.metadata.uid ?? '' };
}

const starterOf = ({ metadata }: AgentExecution): string | undefined => metadata.annotations?.[annotations.startedBy];

interface Task {
  readonly agent: Agent;
  readonly input: string;
}

function executionOf(name: string, { namespace, stimulus }: ClassifyRequest, { agent, input }: Task): AgentExecution {
  const { uid = '', name: agentName } = agent.metadata;
  return {
    apiVersion,
    kind: 'AgentExecution',
    metadata: {
      name,
      namespace,
      labels: { [labels.agent]: agentName, [labels.agentUid]: uid },
      annotations: { [annotations.startedBy]: `stimulus:${stimulus.id}` },
    },
    spec: {
      agent: uid,
      intent: `Choose the workflow that this stimulus is for. ${form}`,
      input,
      timeout: bounds.timeout,
      ttl_seconds_after_finished: bounds.keptSeconds,
    },
  };
}

/**
 * Everything that the choice needs (requirements ROUTE-17), as JSON. Where it is too long, the content is cut, then the
 * headers, each with a mark, then descriptions are left out. A workflow never is.
 * @throws AppError where the workflows alone are too many.
 */
function inputOf({ cluster }: RouterAgentDeps, { tenant, stimulus }: ClassifyRequest): string {
  const room = limits.agentInputLength - bounds.stimulusLength;
  const known = cluster.workflows
    .list({ tenant, subject: '' })
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const whole = { workflows: known.map((one) => choiceAs(one, bounds.descriptionLength)), answer: form };
  const bare = { workflows: known.map((one) => choiceAs(one, 0)), descriptions_cut: true, answer: form };
  const rest = [whole, bare].find((offered) => JSON.stringify(offered).length <= room);
  if (rest === undefined)
    throw failed('the tenant has more workflows than a router agent can be shown; route the source');
  return JSON.stringify({ stimulus: shown(stimulus, limits.agentInputLength - JSON.stringify(rest).length), ...rest });
}

const choiceAs = ({ metadata, spec }: ListedWorkflow, descriptionLength: number) => ({
  workflow_id: metadata.uid,
  name: metadata.name,
  ...(descriptionLength > 0 && { description: spec.description?.slice(0, descriptionLength).toWellFormed() }),
});

/** Names of fields, marks and what else is no text of the sender. */
const frameLength = 1_024;

/** The stimulus in so many characters of JSON. */
function shown({ source, content, headers, receivedAt }: Stimulus, room: number) {
  const most = Math.floor((room - frameLength) * bounds.headersShare);
  const kept = headersWithin(headers, most);
  const isCut = Object.keys(kept).length < Object.keys(headers).length;
  const left = room - frameLength - JSON.stringify(kept).length;
  const text = JSON.stringify(content);
  return {
    source: source.name,
    received_at: receivedAt,
    headers: kept,
    ...(isCut && { headers_cut: true }),
    ...(text.length <= left ? { content } : { content: cutTo(text, left), content_cut: true }),
  };
}

/** The shortest headers first: many of them say more than a long one. */
function headersWithin(headers: Stimulus['headers'], most: number): Readonly<Record<string, string>> {
  const entries = Object.entries(headers);
  const lengthOf = (entry: readonly string[]): number => JSON.stringify(entry).length;
  let left = most;
  const fitting = entries
    .toSorted((a, b) => lengthOf(a) - lengthOf(b))
    .filter((entry) => (left -= lengthOf(entry)) >= 0);
  return fitting.length === entries.length ? headers : Object.fromEntries(fitting);
}

/** The beginning of a text whose JSON has so many characters at most: quotes in it are written as two. */
function cutTo(text: string, most: number): string {
  let kept = text.slice(0, most).toWellFormed();
  for (;;) {
    const { length } = JSON.stringify(kept);
    if (length <= most) return kept;
    kept = kept.slice(0, Math.floor((kept.length * most) / length) - 1).toWellFormed();
  }
}

async function waitFor(
  { clock, current }: RouterAgentDeps,
  { uid }: Question,
  signal: AbortSignal | undefined,
): Promise<AgentExecution | undefined> {
  const end = clock.steadyMs() + bounds.waitMs;
  while (clock.steadyMs() < end && signal?.aborted !== true) {
    const execution = current(uid);
    if (execution !== undefined && hasAnswer(execution)) return execution;
    await clock.sleep(bounds.lookMs, signal);
  }
  return undefined;
}

/** The result is there before the status says so. */
const hasAnswer = (execution: AgentExecution): boolean => execution.spec.result !== undefined || finished(execution);

/** It costs tokens for as long as it runs; where it cannot be cancelled, its own timeout ends it. */
async function cancel({ kube, clock }: RouterAgentDeps, { name, namespace }: Question): Promise<void> {
  const patch = { spec: { cancel: { by: 'router', at: new Date(clock.now()).toISOString() } } };
  await kube.mergePatch(agentExecutions, { name, namespace }, patch).catch(() => undefined);
}

async function resultOf({ cluster }: RouterAgentDeps, ended: AgentExecution): Promise<AgentResult | undefined> {
  return (await cluster.agentExecutions.whole(ended))?.spec.result;
}

function choiceOf(result: AgentResult | undefined, { status }: AgentExecution): Classification {
  if (result?.phase === 'completed') return choiceIn(result.output ?? '');
  throw failed(`the router agent failed: ${result?.reason ?? status?.reason ?? 'no result'}`);
}

/** Says nothing of the text: it may hold parts of the stimulus, and the message is published. */
function choiceIn(text: string): Classification {
  const { workflow_id: workflow, confidence } = objectIn(text) ?? {};
  const isChoice = typeof workflow === 'string' && workflow !== '' && typeof confidence === 'number';
  if (isChoice) return { workflow, confidence };
  throw failed('the router agent did not answer with {"workflow_id", "confidence"}');
}

/** Models like to put JSON into a block of code, or a sentence before it. */
function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
