import type { Workflow } from '../../crds/schema/workflow.ts';
import type { Phase } from '../../crds/schema/workflow-execution-status.ts';
import type { Clock } from '../../lib/clock.ts';
import { isTimeUp } from '../../lib/deadline.ts';
import { AppError } from '../../lib/errors.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import { isJsonObject } from '../../lib/json-object.ts';
import { workflows } from '../../lib/kinds.ts';
import { isAlreadyExists, isInvalid, type KubeClient } from '../../lib/kube/index.ts';
import { sameJson } from '../../lib/same-json.ts';
import type { RoomyCaller } from './call-room.ts';
import { writeRefusal } from '../routes/write-refusal.ts';
import { type ExecutionPhases, isOver } from './execution-phases.ts';
import { helperState } from './helper-workflow.ts';
import { lookUntil } from '../../lib/look-until.ts';
import type { Operations } from './operations.ts';
import { stillRunning } from './still-running.ts';

export interface HelperPodsDeps {
  readonly clock: Clock;
  readonly kube: Pick<KubeClient, 'create' | 'get'>;
  readonly operations: Pick<Operations, 'call'>;
  readonly phases: Pick<ExecutionPhases, 'ofWorkflow'>;
  /** Takes a workflow that was just made, so that it is found at once. */
  readonly remember: (workflow: Workflow) => void;
}

interface HelperResult {
  readonly execution_id: string;
  readonly exit_code: number;
  readonly stdout: string;
  /** The standard output continues. */
  readonly truncated: boolean;
  /** The execution kept no more than the beginning of its standard output. */
  readonly isCut: boolean;
}

interface HelperRun {
  readonly workflow: Workflow;
  readonly input: Readonly<Record<string, string>>;
  /** How long its output is kept. */
  readonly keepSeconds: number;
}

/** How often a helper is looked at, and how long at most: its pod has to start. */
const waiting = { everyMs: 250, ms: 180_000 };

/**
 * Runs a helper of the caller's tenant to its end. A call that is given up cancels it; one whose time is up leaves it to its own
 * limits. @throws AppError, `StillRunning` where the time is up.
 */
export async function runHelper(
  deps: HelperPodsDeps,
  caller: RoomyCaller,
  { workflow, input, keepSeconds }: HelperRun,
  signal: AbortSignal,
): Promise<HelperResult> {
  const { operations } = deps;
  const made = await ensure(deps, workflow);
  const body = { workflow: made.metadata.uid ?? '', input, ttl_seconds_after_finished: keepSeconds };
  const started = await operations.call('startExecution', caller, { body, seesHelpers: true });
  const execution_id = isJsonObject(started) ? String(started['execution_id']) : '';
  const asked = { params: { execution_id }, seesHelpers: true } as const;
  try {
    await untilEnded(deps, caller, asked, signal);
    const { exit_code, isCut } = endOf(await operations.call('readExecution', caller, asked));
    const output = await operations.call('readExecutionLogs', caller, { ...asked, query: { stream: 'stdout' } });
    const { text, truncated } = isJsonObject(output) ? output : {};
    const stdout = typeof text === 'string' ? text : '';
    return { execution_id, exit_code, stdout, truncated: truncated === true || isCut, isCut };
  } catch (error) {
    if (signal.aborted && !isTimeUp(signal))
      await operations.call('cancelExecution', caller, { ...asked, body: {} }).catch(() => undefined);
    throw error;
  }
}

/**
 * Workflows of one name have one content, which the API server keeps as it is written: it fills no default in. Another one
 * under the name was made past the admission policy.
 */
async function ensure({ kube, remember }: HelperPodsDeps, workflow: Workflow): Promise<Workflow> {
  const { name, namespace = '' } = workflow.metadata;
  const made = await kube.create(workflows, workflow).catch(async (error: unknown) => {
    if (!isAlreadyExists(error)) throw asRefusal(error);
    return kube.get(workflows, { name, namespace });
  });
  if (!sameJson(made.spec, workflow.spec)) {
    const message = `a workflow named ${name} that Windlass did not make is in the way; delete it`;
    throw new AppError('conflict', message, { reason: 'CONFLICT' });
  }
  remember(made);
  return made;
}

function asRefusal(error: unknown): unknown {
  if (isInvalid(error)) return new HttpError({ code: 'invalid', message: error.serverMessage, cause: error });
  const tooLarge = (cause: unknown) => new HttpError({ code: 'limit_exceeded', message: 'too large', cause });
  return writeRefusal(error, tooLarge) ?? error;
}

interface AskedHelper {
  readonly params: { readonly execution_id: string };
  readonly seesHelpers: true;
}

async function untilEnded(
  { clock, operations, phases }: HelperPodsDeps,
  caller: RoomyCaller,
  asked: AskedHelper,
  signal: AbortSignal,
): Promise<void> {
  const look = async (): Promise<Phase | undefined> => {
    if (!isTimeUp(signal)) signal.throwIfAborted();
    return phases.ofWorkflow(caller, asked.params.execution_id, asked.seesHelpers);
  };
  const looks = { clock, signal, ...waiting, isOver: () => isTimeUp(signal) };
  caller.room.drop();
  const { isWanted } = await lookUntil(looks, look, isOver);
  if (isWanted) return;
  if (isTimeUp(signal)) {
    throw stillRunning('the helper pod', 'svc.file.list and svc.file.read tell what it has done');
  }
  await operations.call('cancelExecution', caller, { ...asked, body: {} });
  throw new AppError('limit_exceeded', `no helper pod came to its end in ${waiting.ms / 1_000} s; try again`);
}

/** @throws AppError where the command never ran, with the words of its execution. */
function endOf(execution: unknown): Pick<HelperResult, 'exit_code' | 'isCut'> {
  const { blackboard, message } = isJsonObject(execution) ? execution : {};
  const entry = isJsonObject(blackboard) ? blackboard[helperState] : undefined;
  const { exit_code, stdout_truncated: isCut } = isJsonObject(entry) ? entry : {};
  if (typeof exit_code === 'number') return { exit_code, isCut: isCut === true };
  const why = typeof message === 'string' ? message : 'it did not run';
  throw new AppError('conflict', `the helper pod failed: ${why}`, { reason: 'HELPER_FAILED' });
}
