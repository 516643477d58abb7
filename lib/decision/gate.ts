import type { StateOf } from '../../crds/schema/state.ts';
import type { WorkflowSpec } from '../../crds/schema/workflow.ts';
import type { Signal, WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { StoredValue } from '../../crds/schema/workflow-execution-status.ts';
import { cutText } from '../cut-text.ts';
import { AppError, hasReason } from '../errors.ts';
import { ExecutionError } from '../execution/execution-error.ts';
import { executionScope } from '../execution/execution-scope.ts';
import type { OutputReader } from '../execution/output-reader.ts';
import { evaluate } from '../expression/evaluate.ts';
import type { KubeClient } from '../kube/index.ts';
import { parseLocator } from '../output-store/blob.ts';
import { valueOf } from '../output-store/blob-value.ts';
import { open } from '../output-store/stored-value.ts';
import { ownMember } from '../own-member.ts';
import { pinnedSpec } from '../registration/pinned-content.ts';
import type { TemplateScope } from '../template/scope.ts';
import { Work } from '../work/work.ts';
import { answerEntry, feedbackOf } from './answer-entry.ts';
import { answersText, judge, namedAnswers } from './answers.ts';

interface GateDeps {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly outputs: OutputReader;
}

/** The answer of one person to the waiting state, which is to be written. */
type Answer = Pick<Signal, 'state' | 'response' | 'feedback' | 'by' | 'at'>;

/**
 * Holds an answer against the rules of the Human state that it is meant for, before it is written.
 * @throws ExecutionError `UnmatchedResponse`, with the responses that would match (requirements AMB-170).
 */
export type Gate = (execution: WorkflowExecution, answer: Answer) => Promise<void>;

/** Reads the definition that the execution runs. Where that may not be read the engine judges, which refuses as well. */
export function createGate({ kube, outputs }: GateDeps): Gate {
  return async (execution, answer) => {
    const { current } = execution.status ?? {};
    if (current?.answers?.includes(answer.response) === true) return;
    const workflow = await pinnedSpec(kube, execution).catch(unlessUnreadable);
    const state = ownMember(workflow?.states, answer.state);
    if (workflow === undefined || state?.kind !== 'Human') return;
    if (!(await leadsOn(outputs, { execution, workflow, state }, answer))) throw unmatched(execution, state, answer);
  };
}

function unlessUnreadable(error: unknown): undefined {
  if (!hasReason(error, 'DefinitionUnreadable')) throw error;
}

interface Asking {
  readonly execution: WorkflowExecution;
  readonly workflow: WorkflowSpec;
  readonly state: StateOf<'Human'>;
}

async function leadsOn(outputs: OutputReader, asking: Asking, answer: Answer): Promise<boolean> {
  const { transitions } = asking.state;
  const verdict = judge(transitions, answer.response);
  if (verdict !== 'depends') return verdict === 'matches';
  const scope = scopeWith(asking, answer);
  // All rules share the work of one turn, as in the engine.
  const work = new Work();
  for (const { condition, expression = '' } of transitions) {
    if (condition === 'custom' && (await holds(outputs, asking.execution, { expression, scope, work }))) return true;
  }
  return false;
}

interface Test {
  readonly expression: string;
  readonly scope: TemplateScope;
  readonly work: Work;
}

/** Evaluates as the engine does, and loads what that needs. A rule that cannot be evaluated matches nothing. */
async function holds(outputs: OutputReader, execution: WorkflowExecution, { expression, scope, work }: Test) {
  const loaded = new Map<string, unknown>();
  try {
    for (;;) {
      const result = evaluate(expression, scope, loaded, work);
      if (result.kind === 'value') return result.value;
      for (const locator of result.refs) loaded.set(locator, await load(outputs, execution, locator));
    }
  } catch (error) {
    if (error instanceof AppError && error.code !== 'unavailable' && error.code !== 'timeout') return false;
    throw error;
  }
}

async function load(outputs: OutputReader, execution: WorkflowExecution, locator: string): Promise<unknown> {
  const { ref, bytes, encoding, storedBy } = parseLocator(locator);
  const stored = { ref, bytes, ...(storedBy !== undefined && { stored_by: storedBy }) };
  return valueOf(await outputs(execution)(stored), { ref, encoding });
}

/** The scope as it would be had the answer been given. */
function scopeWith({ execution, workflow }: Asking, answer: Answer): TemplateScope {
  const { metadata, status } = execution;
  const opened = (stored: StoredValue | undefined): unknown => stored && open(stored, metadata.uid ?? '');
  const entries = Object.entries(status?.blackboard ?? {}).map(([key, stored]) => [key, opened(stored)] as const);
  const blackboard = Object.fromEntries([...entries, [answer.state, answerEntry(answer)]]);
  return executionScope(execution, workflow, {
    blackboard,
    feedback: opened(status?.feedback),
    humanFeedback: feedbackOf(answer),
  });
}

/** Longest response that the sentence quotes, in characters. */
const quotedLength = 64;

function unmatched(execution: WorkflowExecution, { transitions }: StateOf<'Human'>, answer: Answer): ExecutionError {
  const responses = namedAnswers(transitions);
  const { state, response } = answer;
  const message = `'${cutText(response, quotedLength)}' matches no rule of state '${state}' of ${execution.metadata.name}; ${answersText(responses)}`;
  return new ExecutionError('UnmatchedResponse', execution, message, { responses });
}
