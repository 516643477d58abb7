import { limits } from '../../../crds/limits.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { judgedExecution, judgeExecutionName } from '../../../lib/agent/judged-execution.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Budget } from '../../../lib/conversation/budget.ts';
import { defined } from '../../../lib/defined.ts';
import { canonicalHash } from '../../../lib/definition/canonical.ts';
import { messageOf } from '../../../lib/errors.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import type { CacheReader } from '../../../lib/informer/cache.ts';
import type { Informer } from '../../../lib/informer/index.ts';
import { agentExecutions } from '../../../lib/kinds.ts';
import { findObject, isRetryable, type KubeClient, mayPass } from '../../../lib/kube/index.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { Cluster } from '../../cluster/index.ts';
import { marksOfJudge } from '../../cluster/lineages.ts';
import { type StartAgentDeps, start } from '../../routes/agent-executions/start.ts';
import type { AgentCaller } from '../registered/index.ts';
import { type JudgedAnswer, JudgeFailed } from './judge.ts';
import { createCancelUnwanted, isUnderWay, judgesUnderWay } from './unwanted-judges.ts';

/** An answer that an agent is to judge. */
interface JudgeQuestion {
  /** The execution that gave the answer. */
  readonly execution: AgentExecution;
  readonly caller: AgentCaller;
  /** Name or uid of the agent that judges. */
  readonly agent: string;
  readonly iteration: number;
  readonly answer: JudgedAnswer;
  /** The rest of the bounds of the execution. */
  readonly budget: Budget;
}

/** The agent's answer, and the tokens that it took. */
interface JudgeResult {
  /** Uid of its execution. */
  readonly judge: string;
  /** JudgeFailed where its execution ended without an answer. */
  readonly output: string | JudgeFailed;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd?: number;
}

/** Agents that judge answers: each answer has an execution of its own, which its name finds again (ADR 0112). */
export interface JudgeAgents {
  /** Resolves when no judge of the execution is under way, as far as the cache knows, or `signal` aborts. */
  idle(execution: AgentExecution, signal: AbortSignal): Promise<void>;
  /**
   * Undefined while the judge is under way; it is started where it was not.
   * @throws JudgeFailed, or JudgeLater where the next attempt may succeed.
   */
  result(question: JudgeQuestion): Promise<JudgeResult | undefined>;
}

interface JudgeAgentsDeps extends Pick<StartAgentDeps, 'newId' | 'audit'> {
  readonly kube: Pick<KubeClient, 'create' | 'get' | 'list' | 'jsonPatch'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly agents: Pick<Cluster['agents'], 'locate'>;
  readonly executions: Pick<Informer<AgentExecution, 'namespace'>, 'whole' | 'onChange'> & {
    readonly cache: Pick<CacheReader<AgentExecution, 'family'>, 'get' | 'getByUid' | 'byIndex' | 'remember'>;
  };
}

export function createJudgeAgents(deps: JudgeAgentsDeps): JudgeAgents {
  const wakes = new Map<string, PromiseWithResolvers<void>>();
  const cancelUnwanted = createCancelUnwanted(deps);
  deps.executions.onChange(({ before, after }) => {
    const judged = judgedExecution(after ?? before);
    if (judged !== undefined && !isUnderWay(after)) wakes.get(judged)?.resolve();
    if (after !== undefined) cancelUnwanted(after);
  });
  return {
    async idle(execution, signal) {
      const { uid = '' } = execution.metadata;
      while (!signal.aborted && judgesUnderWay(deps, execution).length > 0) {
        const wake = wakes.get(uid) ?? Promise.withResolvers<void>();
        wakes.set(uid, wake);
        await Promise.race([wake.promise, deps.clock.sleep(lookMs, signal)]);
        wakes.delete(uid);
      }
    },
    result: (question) => resultOf(deps, question).catch(throwLater),
  };
}

/** A change that was missed is found after so long. */
const lookMs = 30_000;

async function resultOf(deps: JudgeAgentsDeps, question: JudgeQuestion): Promise<JudgeResult | undefined> {
  const judge = await judgeOf(deps, question);
  const { uid = '' } = judge.metadata;
  deps.executions.cache.remember(judge);
  if (isUnderWay(judge)) return undefined;
  const whole = await deps.executions.whole(judge);
  const { output, phase, input_tokens = 0, output_tokens = 0, cost_usd } = whole?.spec.result ?? {};
  const isAnswered = output !== undefined && phase === 'completed';
  const said = isAnswered ? output : noVerdict(question, whole ?? judge);
  return { judge: uid, output: said, input_tokens, output_tokens, ...defined({ cost_usd }) };
}

/** The execution that judges this answer; it is made where it is not there. @throws JudgeFailed */
async function judgeOf(deps: JudgeAgentsDeps, question: JudgeQuestion): Promise<AgentExecution> {
  const { execution, iteration } = question;
  const { namespace = '', uid = '' } = execution.metadata;
  const name = judgeExecutionName(uid, iteration);
  const known = deps.executions.cache.get(`${namespace}/${name}`);
  const found = known ?? (await findObject(deps.kube, agentExecutions, { namespace, name }));
  const judge = found ?? (await started(deps, question, name));
  if (judgedExecution(judge) === uid) return judge;
  throw new JudgeFailed(`another execution named ${name} is in its way; delete that one`);
}

function noVerdict({ agent }: JudgeQuestion, { metadata, spec, status }: AgentExecution): JudgeFailed {
  const { phase = 'deleted', reason, message } = { ...status, ...spec.result };
  const why = [phase, reason, message].filter((text) => text !== undefined).join(': ');
  return new JudgeFailed(`agent ${agent}, execution ${metadata.name}: ${why}`);
}

/** @throws JudgeFailed for what no attempt mends. */
async function started(deps: JudgeAgentsDeps, question: JudgeQuestion, name: string): Promise<AgentExecution> {
  const { execution, caller, agent: asked, answer, budget } = question;
  const input = JSON.stringify(answer);
  if (input.length > limits.agentInputLength)
    throw new JudgeFailed(
      `task, input and answer have ${input.length} characters, and an agent takes ${limits.agentInputLength}`,
    );
  const agent = await deps.agents.locate(caller.tenant, asked);
  if (agent === undefined) throw new JudgeFailed(`there is no agent ${asked}; register it, or change validation.agent`);
  const { namespace = '' } = execution.metadata;
  const body = { agent_id: agent.metadata.uid ?? '', input };
  try {
    const marks = marksOfJudge(execution);
    const known = { name, request: canonicalHash(body) };
    const judge = await start(deps, { agent, body, caller, namespace, known, marks, serves: execution, budget });
    const data = { agent: agent.metadata.name, agent_id: body.agent_id };
    deps.audit.record({
      type: 'AgentExecutionStarted',
      by: caller,
      subject: judge.metadata.uid ?? '',
      act: 'start',
      data,
    });
    return judge;
  } catch (error) {
    if (error instanceof HttpError && !isLater(error)) throw new JudgeFailed(messageOf(error), error);
    throw error;
  }
}

/** The API server had trouble: no failure of the execution, whose next attempt continues here. */
export class JudgeLater extends Error {
  override readonly name = 'JudgeLater';
}

function throwLater(error: unknown): never {
  throw isLater(error) ? new JudgeLater(messageOf(error), { cause: error }) : error;
}

/** The cluster may take later what it refused for a reason of its own. */
function isLater(error: unknown): boolean {
  if (error instanceof JudgeFailed) return false;
  if (error instanceof HttpError) return isRetryable(error) || isLater(error.cause);
  return mayPass(error);
}
