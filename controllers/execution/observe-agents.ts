import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { AgentFact } from './engine/facts.ts';

/** An AgentExecution that a state of this execution started; nothing for one without a parent. */
export function observeAgent(execution: AgentExecution): AgentFact[] {
  const { metadata, spec } = execution;
  const { parent: madeBy, cancel } = spec;
  if (madeBy === undefined) return [];
  const about = { name: metadata.name, uid: metadata.uid ?? '', madeBy, cancelled: cancel !== undefined };
  return [{ ...about, phase: phaseOf(execution), why: whyOf(execution), ...progressOf(execution) }];
}

/** The API says the numbers of the outcome before the status does. */
function progressOf({ spec: { result }, status = {} }: AgentExecution) {
  const { score, confidence, iterations } = result ?? status;
  return {
    agentUid: status.agent?.uid,
    startedAt: instantOf(status.started_at),
    endedAt: instantOf(result?.at ?? status.finished_at),
    score,
    confidence,
    iterations,
  };
}

/** With its final text; empty where it has none. */
export function wholeAgent(execution: AgentExecution): AgentFact | undefined {
  const [fact] = observeAgent(execution);
  return fact && { ...fact, output: execution.spec.result?.output ?? '' };
}

/** The API says the outcome before the status does (design §12). One that is being deleted counts as cancelled. */
function phaseOf({ metadata, spec, status }: AgentExecution): AgentFact['phase'] {
  const said = spec.result?.phase ?? status?.phase ?? 'pending';
  // One that waits for a person has started and is running.
  const phase = said === 'waiting' ? 'running' : said;
  const isOpen = phase === 'pending' || phase === 'running';
  return isOpen && metadata.deletionTimestamp !== undefined ? 'cancelled' : phase;
}

function whyOf({ spec: { result }, status }: AgentExecution): AgentFact['why'] {
  const { reason, message = '' } = result ?? status ?? {};
  return reason === undefined ? undefined : { reason, message };
}

const instantOf = (time: string | undefined): number | undefined => (time === undefined ? undefined : Date.parse(time));
