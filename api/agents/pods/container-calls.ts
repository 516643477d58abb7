import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { busLimits, type EventBus } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import { conversationLimits } from '../../../lib/conversation/limits.ts';
import { argumentBytes } from '../../../lib/conversation/held-bytes.ts';
import { startDeadline } from '../../../lib/deadline.ts';
import { AppError, hasReason } from '../../../lib/errors.ts';
import type { NewId } from '../../../lib/ids.ts';
import type { CacheReader } from '../../../lib/informer/cache.ts';
import { failure } from '../../../lib/tools/answers.ts';
import { argumentsRefusal } from '../../../lib/tools/arguments.ts';
import { policy } from '../../../lib/tools/name-policy.ts';
import type { ToolAnswer, ToolArguments, ToolCaller, ToolRefusal } from '../../../lib/tools/tool.ts';
import type { Drivers } from '../drivers/drivers.ts';
import { type ConversationFeed, recordsBehind } from '../conversation/feed.ts';
import { needsDriving } from '../drivers/needs-driving.ts';
import { containerBusy, type SignedCall, signedAddress } from '../calls/signed-calls.ts';

/** A call that has passed every check. */
export interface ContainerCall {
  readonly caller: ToolCaller;
  readonly tool: string;
  readonly args: ToolArguments;
}

/** Signed calls of tools that run in the pod of an execution, whichever replica drives its conversation. */
export interface ContainerCalls {
  /** Why the call cannot run in a container; undefined where it can. */
  problem(call: ContainerCall): ToolRefusal | undefined;
  /** Runs it. A container that takes no command in time is an answer, `ContainerBusy`. */
  run(call: ContainerCall, signal: AbortSignal): Promise<ToolAnswer>;
}

interface ContainerCallsDeps {
  readonly bus: Pick<EventBus, 'request'>;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly executions: { readonly cache: Pick<CacheReader<AgentExecution>, 'getByUid'> };
  readonly drivers: Pick<Drivers, 'open'>;
  readonly feed: ConversationFeed;
}

/** How long the call may take to reach the driver, and how long a replica may take to become the driver. */
const handOverMs = 10_000;
const retryMs = 200;
/** Errors that the caller gets as the answer of the tool. */
const answers: ReadonlySet<string> = new Set(['ContainerBusy', 'OutcomeUnknown']);
/** Room for the other fields of the message. */
const messageBytes = busLimits.requestBytes - 4_096;

export function createContainerCalls(deps: ContainerCallsDeps): ContainerCalls {
  return {
    problem({ caller, tool, args }) {
      const absent = podProblem(deps, caller, tool);
      if (absent !== undefined) return absent;
      if (Buffer.byteLength(JSON.stringify(args)) > messageBytes)
        return argumentsRefusal(`they have more than ${messageBytes} bytes; send less for tool '${tool}'`);
      const { signedBytes } = conversationLimits;
      if (argumentBytes(args) <= signedBytes) return undefined;
      return argumentsRefusal(
        `they take more than ${signedBytes} bytes of memory; send fewer values for tool '${tool}'`,
      );
    },
    async run(call, signal) {
      try {
        return await runInPod(deps, call, signal);
      } catch (error) {
        if (error instanceof AppError && answers.has(error.reason)) return failure(error.reason, error.message);
        throw error;
      }
    },
  };
}

function podProblem({ executions }: ContainerCallsDeps, { executionId = '' }: ToolCaller, tool: string) {
  const status = executions.cache.getByUid(executionId)?.status;
  if (status?.phase === 'waiting')
    return policy('ContainerBusy', `${tool}: the execution waits for a person; call when it runs again`);
  if (status?.phase === 'running' && status.pod !== undefined) return undefined;
  return policy('NoContainer', `${tool} runs in the container of the execution, which has none that runs`);
}

async function runInPod(deps: ContainerCallsDeps, call: ContainerCall, signal: AbortSignal): Promise<ToolAnswer> {
  const { executionId = '', tenant } = call.caller;
  const signed = { call_id: `signed_${deps.newId()}`, tool: call.tool, arguments: call.args };
  await using listener = deps.feed.listen(executionId);
  await listener.ready;
  let last = await submit(deps, executionId, signed, signal);
  for (;;) {
    const isOver = !isDriven(deps, executionId);
    for await (const { sequence, record } of recordsBehind(deps.feed, tenant, executionId, last)) {
      last = sequence;
      if (record.kind === 'signed_ended' && record.call_id === signed.call_id)
        return { content: record.content, isError: record.is_error };
    }
    if (isOver) return failure('ExecutionOver', 'the execution ended before the call did; it may have run');
    signal.throwIfAborted();
    await listener.news(signal);
  }
}

function isDriven({ executions }: ContainerCallsDeps, executionId: string): boolean {
  const execution = executions.cache.getByUid(executionId);
  return execution !== undefined && needsDriving(execution);
}

/** Hands the call to the driver. Resolves to the place of its record. */
async function submit(
  deps: ContainerCallsDeps,
  executionId: string,
  call: SignedCall,
  signal: AbortSignal,
): Promise<number> {
  using deadline = startDeadline(deps.clock, handOverMs, signal);
  while (!deadline.signal.aborted) {
    const taken = await ask(deps, executionId, call, deadline.signal).catch((error: unknown) => {
      signal.throwIfAborted();
      return afterwards(error, deadline.signal);
    });
    if (typeof taken === 'number') return taken;
    // Where there is no driver, this replica becomes it.
    const execution = taken === 'undriven' ? deps.executions.cache.getByUid(executionId) : undefined;
    if (execution !== undefined) await deps.drivers.open(execution, deadline.signal).catch(unlessElsewhere);
    await deps.clock.sleep(retryMs, deadline.signal);
  }
  signal.throwIfAborted();
  throw containerBusy('the execution waits; nothing ran; call again later');
}

/** A replica that is about to end drives no conversation; another one does soon. */
function unlessElsewhere(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
}

/**
 * Where nothing was written down, the conversation has no driver, or changes it. Else the driver may have written down a
 * call to which it gives no answer in time.
 */
function afterwards(error: unknown, over: AbortSignal): 'undriven' | 'moving' {
  if (hasReason(error, 'NoResponders')) return 'undriven';
  if (hasReason(error, 'Overtaken') || hasReason(error, 'Stopped')) return 'moving';
  if (!hasReason(error, 'RequestTimeout') && !over.aborted) throw error;
  const message = 'the driver of the execution did not answer; the command may run. Look before you call again.';
  throw new AppError('timeout', message, { reason: 'OutcomeUnknown', cause: error });
}

async function ask(
  { bus }: ContainerCallsDeps,
  executionId: string,
  call: SignedCall,
  signal: AbortSignal,
): Promise<number> {
  const options = { timeoutMs: handOverMs, signal };
  return Number(Buffer.from(await bus.request(signedAddress(executionId), JSON.stringify(call), options)).toString());
}
