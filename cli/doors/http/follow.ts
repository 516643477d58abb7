import type { ExecutionEvent, ExecutionSummary, ServerEvent, WindlassClient } from '../../../client/index.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type { WorkflowExecutionStatus } from '../../../crds/schema/workflow-execution-status.ts';
import type { Clock } from '../../../lib/clock.ts';
import { deleted } from '../../../lib/execution/execution-error.ts';
import { finished } from '../../../lib/execution/finished.ts';
import { wholeExecutionOf } from './execution-object.ts';
import { afterEvent } from './told-execution.ts';

export interface FollowDeps {
  readonly client: Pick<WindlassClient, 'readExecution' | 'streamExecution'>;
  readonly clock: Clock;
}

/** An execution as far as its events have been read. */
export interface Told {
  readonly execution: WorkflowExecution;
  /** The last event that was read; undefined: none. */
  readonly lastEventId: string | undefined;
}

/** How long to wait for events of what the server has said already. Then what there is must do. */
const catchUpMs = 5_000;

/**
 * The execution with its history: the events up to where `summary` says that it stands. They may come from another
 * replica, which has not seen as much yet, so they are waited for a moment.
 */
export async function catchUp({ client, clock }: FollowDeps, begin: Told, summary: ExecutionSummary): Promise<Told> {
  let told = begin;
  if (isCaughtUp(told.execution, summary)) return told;
  const stop = new AbortController();
  const late = clock.sleep(catchUpMs, stop.signal).then(() => stop.abort());
  try {
    for await (const event of eventsBehind(client, told, stop.signal)) {
      told = after(told, event);
      if (isCaughtUp(told.execution, summary)) return told;
    }
    return told;
  } catch (error) {
    if (stop.signal.aborted) return told;
    throw error;
  } finally {
    stop.abort();
    await late;
  }
}

/**
 * Every state from the one that was told on, until the execution has ended; the last is that of the end, with its
 * output. Ends quietly when `signal` aborts; throws when it is deleted.
 */
export async function* followTold(deps: FollowDeps, begin: Told, signal: AbortSignal): AsyncGenerator<Told, void> {
  let told = begin;
  yield told;
  if (finished(told.execution)) return;
  try {
    for await (const batch of batches(deps, told, signal)) {
      if (batch.some(({ data }) => 'workflow_execution_deleted' in data)) throw deleted(told.execution);
      const next = batch.reduce(after, told);
      told = finished(next.execution) ? await atEnd(deps, next, signal) : next;
      yield told;
      if (finished(told.execution)) return;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** What comes this soon after an event is told with it. */
const togetherMs = 20;

type Event = ServerEvent<ExecutionEvent>;

/** Events that come at once belong to one state of the execution: what was in between nobody can have seen. */
async function* batches(deps: FollowDeps, told: Told, signal: AbortSignal): AsyncGenerator<readonly Event[], void> {
  const over = new AbortController();
  const events = eventsBehind(deps.client, told, AbortSignal.any([signal, over.signal]));
  const iterator = events[Symbol.asyncIterator]();
  try {
    let next = waiting(iterator);
    for (let first = await next; first.done !== true; first = await next) {
      const batch = [first.value];
      next = waiting(iterator);
      for (let more = await soon(next, deps.clock); more?.done === false; more = await soon(next, deps.clock)) {
        batch.push(more.value);
        next = waiting(iterator);
      }
      yield batch;
    }
  } finally {
    // The event that is being waited for may never come.
    over.abort();
  }
}

function waiting<T>(iterator: AsyncIterator<T>): Promise<IteratorResult<T, unknown>> {
  const next = iterator.next();
  // It may fail while nobody waits for it; whoever does next is told.
  next.catch(() => undefined);
  return next;
}

async function soon<T>(next: Promise<T>, clock: Clock): Promise<T | undefined> {
  const over = new AbortController();
  const late = clock.sleep(togetherMs, over.signal).then(() => undefined);
  try {
    return await Promise.race([next, late]);
  } finally {
    over.abort();
  }
}

function eventsBehind(
  client: FollowDeps['client'],
  { execution, lastEventId }: Told,
  signal: AbortSignal,
): AsyncIterable<ServerEvent<ExecutionEvent>> {
  return client.streamExecution({ execution_id: execution.metadata.uid ?? '', lastEventId }, { signal });
}

function after({ execution }: Told, { id, data }: ServerEvent<ExecutionEvent>): Told {
  return { execution: afterEvent(execution, data), lastEventId: id };
}

/** The events have told as much as the server knew, or more. */
function isCaughtUp(execution: WorkflowExecution, summary: ExecutionSummary): boolean {
  if (finished(execution)) return true;
  if (isOver(summary)) return false;
  const { status = unseen } = execution;
  const told = (status.history ?? []).length + (status.current === undefined ? 0 : 1);
  const known = enteredIn(summary);
  if (told !== known) return told > known;
  if (summary.status === 'waiting') return status.phase === 'waiting';
  return summary.started_at === null || status.started_at !== undefined;
}

const unseen: WorkflowExecutionStatus = { phase: 'pending' };

/** How many states an execution that goes on has entered: one more than it has left by a transition. */
function enteredIn({ current_state: state, transitions }: ExecutionSummary): number {
  return state === null ? 0 : transitions + 1;
}

function isOver({ status }: ExecutionSummary): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

const lookAgainMs = 100;

/** An execution whose end was told, with what only the server knows: its Blackboard, and why it ended. */
export async function atEnd({ client, clock }: FollowDeps, told: Told, signal: AbortSignal): Promise<Told> {
  const { metadata } = told.execution;
  const until = clock.now() + catchUpMs;
  do {
    const found = wholeExecutionOf(await client.readExecution({ execution_id: metadata.uid ?? '' }, { signal }));
    if (finished(found)) return { ...told, execution: completed(told.execution, found) };
    // Another replica may not have seen the end yet.
    await clock.sleep(lookAgainMs, signal);
  } while (clock.now() < until && !signal.aborted);
  return told;
}

/** What events have told, and beside it what they do not tell. */
export function completed({ status: told }: WorkflowExecution, found: WorkflowExecution): WorkflowExecution {
  const { status } = found;
  if (told === undefined) return found;
  const { reason = told.reason, message = told.message, final_output = told.final_output } = status ?? {};
  const why = { ...(reason && { reason }), ...(message && { message }), ...(final_output && { final_output }) };
  return { ...found, status: { ...status, ...told, ...why } };
}
