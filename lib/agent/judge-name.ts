import type { Agent, AgentSpec } from '../../crds/schema/agent.ts';
import { type Problem, warningAt } from '../../crds/problem.ts';
import { cachedAgent, type KnownAgents, meantAgent } from './find-agent.ts';

/** Name or uid of the agent that judges the answers; undefined where a model does, or nothing. */
export const judgeNameOf = ({ execution }: AgentSpec): string | undefined => execution?.validation?.agent;

export const noSuchJudge = (judge: string): string =>
  `no agent ${judge}, which judges the answers, is here or in the global namespace`;

/** A warning where the agent that judges the answers is not there: it may be registered later. */
export function judgeWarnings(agents: KnownAgents, { metadata, spec }: Agent): readonly Problem[] {
  const judge = judgeNameOf(spec);
  const namespace = metadata.namespace ?? '';
  if (judge === undefined || cachedAgent(agents, namespace, judge) !== undefined) return [];
  const meant = meantAgent(agents, namespace, judge);
  const message = `${noSuchJudge(judge)}${meant}; until it is registered, executions of this agent fail with AgentNotFound`;
  return [warningAt(['spec', 'execution', 'validation', 'agent'], 'unknown_agent', message)];
}
