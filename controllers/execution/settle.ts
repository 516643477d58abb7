import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf, TerminalError } from '../../lib/errors.ts';
import { finished } from '../../lib/execution/finished.ts';
import { workflowExecutions } from '../../lib/kinds.ts';
import {
  findAgain,
  isInvalid,
  isQuotaExceeded,
  isTooLarge,
  type KubeClient,
  type KubeError,
} from '../../lib/kube/index.ts';
import { OutputBudgetExceeded, OutputNameTaken, type OutputStore } from '../../lib/output-store/output-store.ts';
import { RefusedError } from '../runtime/outcome.ts';
import type { TurnGate } from '../runtime/turn-gate.ts';
import { writeStatus } from '../runtime/write-status.ts';
import type { Bugs } from './bugs.ts';
import { decide } from './engine/decide.ts';
import type { Decision, Exceeded, NeedsFacts } from './engine/decision.ts';
import type { Facts, Failure } from './engine/facts.ts';
import { reduce } from './engine/reduce.ts';
import { bareFailure, refuse } from './engine/refusal.ts';
import { statusProblem } from './engine/status-problem.ts';
import { type LearnDeps, learn } from './learn.ts';
import { blobOwner, holdOutputs, type OutputsDeps } from './outputs-finalizer.ts';
import { refusedByQuota, type UnstoredDeps } from './unstored.ts';
import { Unwritten } from './unwritten.ts';

export interface SettleDeps extends LearnDeps, UnstoredDeps, Omit<OutputsDeps, 'caches'> {
  readonly clock: Pick<Clock, 'now'>;
  readonly kube: Pick<KubeClient, 'get' | 'list' | 'listAll' | 'jsonPatchStatus' | 'jsonPatch'>;
  readonly store: OutputStore;
  /** Gives every decision a turn of the event loop of its own. */
  readonly turns: TurnGate;
  readonly bugs: Bugs;
}

/** The decision, and the newest version of the object, which holds it. */
interface Settled {
  readonly decision: Decision;
  readonly current: WorkflowExecution;
}

/** Rounds of loading facts and deciding again before something must be wrong. */
const roundsMax = 1_000;

/**
 * Decides until no fact is lacking, everything large is stored and the status is written. Turns that only advance are
 * written together. A result that cannot be stored or written, or is too much work, ends its state, then the
 * execution, and is never tried again as it was.
 */
export async function settle(deps: SettleDeps, facts: Facts, begun: number): Promise<Settled> {
  const unwritten = new Unwritten(facts.execution, begun);
  let [known, now, storedBytes] = [facts, begun, 0];
  for (let round = 0; round < roundsMax; round += 1) {
    await deps.turns.enter(facts.execution.metadata.namespace ?? '');
    const result = decideOrEnd(deps, known, now);
    if (result.kind === 'needs') {
      known = await learn(deps, known, result.needs);
      continue;
    }
    if (result.kind === 'decision' && unwritten.mayTake(result, now)) {
      known = unwritten.take(known, result);
      now = deps.clock.now();
      continue;
    }
    const tried = result.kind === 'exceeded' ? result : await keep(deps, { known, unwritten, storedBytes }, result);
    if ('current' in tried) return { ...tried, decision: unwritten.withHappenings(tried.decision) };
    if ('storedBytes' in tried) {
      ({ storedBytes } = tried);
      unwritten.stored = tried.stored;
    }
    const harder = harderFacts({ facts, known, unwritten }, tried);
    if (harder === undefined) return giveUp(deps, { ...known, execution: unwritten.stored }, tried.failure, now);
    known = harder;
  }
  throw new Error(`deciding asked for more facts ${roundsMax} times`);
}

/** A decision that must not be written. */
interface Unkept {
  readonly failure: Failure;
  readonly alone: boolean;
  /** The execution as the API server has it. */
  readonly stored: WorkflowExecution;
  readonly storedBytes: number;
}

interface Round {
  readonly known: Facts;
  readonly unwritten: Unwritten;
  /** Stored values of the turns that are not written. */
  readonly storedBytes: number;
}

/**
 * The facts after a refusal, one consequence harder. Where several turns were to be written together, they are decided
 * again one by one first: the one at fault may be any of them.
 */
function harderFacts(
  { facts, known, unwritten }: Pick<Round, 'known' | 'unwritten'> & { readonly facts: Facts },
  tried: Exceeded | Unkept,
): Facts | undefined {
  if (!('stored' in tried)) return refuse(known, tried.failure, tried.alone);
  const execution = tried.stored;
  const isTogether = unwritten.has;
  unwritten.drop();
  return isTogether ? { ...facts, execution } : refuse({ ...known, execution }, tried.failure, tried.alone);
}

/** Stores what a decision has to store and writes its status. */
async function keep(deps: SettleDeps, round: Round, decision: Decision): Promise<Settled | Unkept> {
  const { known, unwritten, storedBytes: storedBefore } = round;
  const held = await hold(deps, unwritten.stored, decision);
  const decidedOn = { ...held, status: known.execution.status };
  const stored = await tryStore(deps, { ...known, execution: decidedOn }, decision);
  const storedBytes = storedBefore + (typeof stored === 'number' ? stored : 0);
  const outcome = typeof stored === 'number' ? await tryWrite(deps, held, decision, storedBytes) : stored;
  if ('metadata' in outcome) return { decision, current: outcome };
  return { failure: outcome, alone: false, stored: held, storedBytes };
}

/** A bug in deciding about one execution ends that execution, after a few tries, and is not met for ever. */
function decideOrEnd({ bugs }: SettleDeps, facts: Facts, now: number): Decision | NeedsFacts | Exceeded {
  const { uid = '' } = facts.execution.metadata;
  try {
    const result = decide(facts, now);
    if (result.kind === 'decision') bugs.forget(uid);
    return result;
  } catch (error) {
    if (bugs.mayTryAgain(uid)) throw error;
    const message = `a bug in the controllers: ${messageOf(error)}`;
    // One that has ended already has nothing left to end.
    if (finished(facts.execution)) throw new TerminalError('InternalError', message, error);
    return bareFailure(facts, { reason: 'InternalError', message }, now);
  }
}

async function hold(deps: SettleDeps, execution: WorkflowExecution, decision: Decision): Promise<WorkflowExecution> {
  return storesNothing(decision) ? execution : holdOutputs(deps, execution);
}

const storesNothing = ({ blobs, adopted }: Decision): boolean => blobs.length === 0 && adopted.length === 0;

/** Bytes that the store took, or why it took nothing. */
async function tryStore(deps: SettleDeps, facts: Facts, decision: Decision): Promise<number | Failure> {
  const { execution } = facts;
  const { blobs, adopted, status } = decision;
  if (storesNothing(decision)) return 0;
  // A value that no status will name is not stored.
  const problem = finished(execution) ? undefined : statusProblem(status);
  if (problem !== undefined) return problem;
  try {
    // A missing value fails the state that reads it, as it would have in the origin.
    if (adopted.length > 0) await deps.store.adopt(blobOwner(execution), adopted);
    const bytes = await deps.store.put(blobOwner(execution), blobs, execution.status?.stored_bytes ?? 0);
    deps.unstored.forget(execution.metadata.uid ?? '');
    return bytes;
  } catch (error) {
    return unstoredFailure(deps, facts, error);
  }
}

/** The failure of what could not be stored and never can be. @throws what another try may mend. */
function unstoredFailure(deps: SettleDeps, facts: Facts, error: unknown): Failure {
  if (isQuotaExceeded(error)) return refusedByQuota(deps, facts, error, deps.clock.now());
  if (isRefusal(error)) return { reason: 'Refused', message: `outputs are not stored: ${error.serverMessage}` };
  if (error instanceof OutputBudgetExceeded || error instanceof OutputNameTaken)
    return { reason: error.name, message: error.message };
  throw error;
}

/** Writes the status where it changed. Gives the freshest version of the object, or why it must not be written so. */
async function tryWrite(
  deps: SettleDeps,
  execution: WorkflowExecution,
  { status }: Decision,
  storedBytes: number,
): Promise<WorkflowExecution | Failure> {
  const stored = (execution.status?.stored_bytes ?? 0) + storedBytes;
  if (storedBytes > 0) reduce(status, { kind: 'status', fields: { stored_bytes: stored } });
  const problem = finished(execution) ? undefined : statusProblem(status);
  if (problem !== undefined) return problem;
  try {
    return await writeStatus(statusPort(deps, execution), execution, status);
  } catch (error) {
    const refusal = isRefusal(error) && !(await hasChanged(deps, execution)) ? error : undefined;
    if (refusal === undefined) throw error;
    return { reason: 'Refused', message: `the API server refused the status: ${refusal.serverMessage}` };
  }
}

/** A large execution has its answer spared; one that had ended may be there in part. */
const statusPort = ({ kube, caches, wholes }: SettleDeps, execution: WorkflowExecution) => ({
  kube,
  resource: workflowExecutions,
  cache: caches.executions,
  sparesAnswer: !finished(execution) && wholes.weight(execution) > 0,
});

/** Not valid or too large: the same status would be refused again. */
const isRefusal = (error: unknown): error is KubeError => isInvalid(error) || isTooLarge(error);

/** A patch of an object that has changed meanwhile may be refused for what it says of the old one. */
async function hasChanged({ kube }: SettleDeps, execution: WorkflowExecution): Promise<boolean> {
  const found = await findAgain(kube, workflowExecutions, execution);
  return found?.metadata.resourceVersion !== execution.metadata.resourceVersion;
}

/** Not even a failed execution can be written: what was written before, and that it failed, is all that is left. */
async function giveUp(deps: SettleDeps, facts: Facts, failure: Failure, now: number): Promise<Settled> {
  const decision = bareFailure(facts, failure, now);
  try {
    return {
      decision,
      current: await writeStatus(statusPort(deps, facts.execution), facts.execution, decision.status),
    };
  } catch (error) {
    if (isRefusal(error)) throw new RefusedError(error, Number.POSITIVE_INFINITY);
    throw error;
  }
}
