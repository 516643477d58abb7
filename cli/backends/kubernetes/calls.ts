import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { isUid } from '../../../crds/uid.ts';
import { commitAnswer } from '../../../lib/decision/commit-answer.ts';
import { askPrompt, openAsk } from '../../../lib/decision/open-ask.ts';
import { defined } from '../../../lib/defined.ts';
import { AppError } from '../../../lib/errors.ts';
import { agentExecutions } from '../../../lib/kinds.ts';
import { findObject } from '../../../lib/kube/index.ts';
import type { CallBackend, PendingApproval } from '../backend.ts';
import type { KubernetesDeps } from './deps.ts';

/** Tool calls that wait, on executions of agents as custom resources. */
export function createCalls(deps: KubernetesDeps): CallBackend {
  const { kube, clock, namespace } = deps;
  return {
    async questions() {
      const { items } = await kube.listAll(agentExecutions, { namespace });
      return items.flatMap((execution) => questionOf(execution, clock.now()));
    },
    async find(nameOrUid) {
      const found = await findAgentExecution(deps, nameOrUid);
      return found && { name: found.metadata.name, uid: found.metadata.uid ?? '' };
    },
    async answer(agent, { response, feedback }) {
      const execution = await findObject(kube, agentExecutions, { namespace, name: agent.name });
      if (execution === undefined) throw new AppError('not_found', `execution ${agent.name} was deleted`);
      const { username: by } = await kube.whoAmI();
      const { signal } = await commitAnswer(deps, execution, { response, by, via: 'cli', ...defined({ feedback }) });
      return signal;
    },
  };
}

async function findAgentExecution(
  { kube, namespace }: KubernetesDeps,
  nameOrUid: string,
): Promise<AgentExecution | undefined> {
  if (!isUid(nameOrUid)) return findObject(kube, agentExecutions, { namespace, name: nameOrUid });
  const { items } = await kube.listAll(agentExecutions, { namespace });
  return items.find(({ metadata }) => metadata.uid === nameOrUid);
}

function questionOf(execution: AgentExecution, now: number): PendingApproval[] {
  const ask = openAsk(execution, now);
  if (ask === undefined) return [];
  const { name, uid = '' } = execution.metadata;
  const agent = execution.status?.agent?.name ?? execution.spec.agent;
  const prompt = askPrompt(execution, ask);
  return [{ execution: name, execution_id: uid, state: `agent ${agent}`, prompt, since: ask.asked_at }];
}
