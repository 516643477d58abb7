import { isTerminal } from '../../../lib/execution/finished.ts';
import { WorkBudgetExceeded } from '../../../lib/work/work.ts';
import { advance } from './advance.ts';
import { afterwards } from './afterwards.ts';
import { begin } from './begin.ts';
import type { Decision, Exceeded, NeedsFacts } from './decision.ts';
import { Draft, LackingFacts } from './draft.ts';
import type { Facts } from './facts.ts';
import { finish } from './finish.ts';
import { releaseAgents, releaseChildren, releaseToolCalls, releasePods } from './release.ts';
import { noteSuccessors } from './successors.ts';
import { summarise } from './summarise.ts';

/**
 * The next wanted state of an execution, given the facts and the time (spec 1 §3.3). Pure, synchronous and total:
 * the same facts at the same time give the same decision, and where the facts say that everything is done, the
 * decision changes nothing. States without a process are passed through in one decision, as many as one turn has work for;
 * the rest follows in the next turn, which `wakeAt` asks for. A verdict on what did not start, was late or is gone holds
 * once the API server was asked for that object.
 */
export function decide(facts: Facts, now: number): Decision | NeedsFacts | Exceeded {
  const { workflow } = facts;
  const draft = new Draft(facts, now, workflow.kind === 'found' ? workflow.definition.spec : emptySpec);
  const result = decideOn(draft);
  // All at once: each round decides anew.
  const needs = [...draft.unasked.values()].map((made) => ({ kind: 'made', made }) as const);
  return needs.length === 0 ? result : { kind: 'needs', needs };
}

function decideOn(draft: Draft): Decision | NeedsFacts | Exceeded {
  try {
    return complete(draft);
  } catch (error) {
    if (error instanceof LackingFacts) return { kind: 'needs', needs: error.needs };
    if (!(error instanceof WorkBudgetExceeded)) throw error;
    const failure = { reason: 'WorkBudgetExceeded', message: error.message } as const;
    return { kind: 'exceeded', failure, alone: !draft.hasProgress };
  }
}

function complete(draft: Draft): Decision {
  const { facts } = draft;
  if (isTerminal(draft.status)) afterwards(draft);
  else if (facts.execution.spec.cancel !== undefined) cancel(draft);
  else if (begin(draft)) advance(draft);
  noteSuccessors(draft);
  releasePods(draft);
  releaseChildren(draft);
  releaseAgents(draft);
  releaseToolCalls(draft);
  summarise(draft);
  return draft.finish();
}

function cancel(draft: Draft): void {
  const { cancel: wish } = draft.facts.execution.spec;
  const why = wish?.reason === undefined ? '' : `: ${wish.reason}`;
  finish(draft, 'cancelled', { reason: 'Cancelled', message: `cancelled by ${wish?.by ?? 'an unknown user'}${why}` });
}

/** Replaces a workflow that is not known or not accepted; nothing reads its states. */
const emptySpec = { version: '0.0.0', initial_state: '', states: {} };
