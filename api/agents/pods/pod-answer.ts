import type {
  DispatchPlan,
  DispatchResult,
  ToolAnswer,
  ToolArguments,
  ToolCaller,
  ToolRun,
} from '../../../lib/tools/tool.ts';
import type { PodChannel } from './pod-channel.ts';

type PodRun = Extract<ToolRun, { kind: 'pod' }>;

/** The answer of a call, and the command by which the pod gave it. */
export interface Answered {
  readonly answer: ToolAnswer;
  readonly dispatch_id?: string;
  readonly result_hash?: string;
}

export const unknownOutcome: ToolAnswer = {
  content:
    'OutcomeUnknown: the call was under way when the replica or the container that ran it went away. It may have run. Look before you call again.',
  isError: true,
};

interface PodCall {
  readonly run: PodRun;
  readonly caller: ToolCaller;
  readonly args: ToolArguments;
  /** The answer where the result of the command cannot be read, for an error of ours. */
  readonly onLost: (error: unknown) => ToolAnswer;
}

type Ended = Awaited<ReturnType<PodChannel['dispatch']>>;

/** The answer of a tool that runs in the pod. Undefined where `dispatch` gives nothing: the pod has not begun. */
export function answerByPod(call: PodCall, dispatch: (plan: DispatchPlan) => Promise<Ended>): Promise<Answered>;
export function answerByPod(
  call: PodCall,
  dispatch: (plan: DispatchPlan) => Promise<Ended | undefined>,
): Promise<Answered | undefined>;
export async function answerByPod(
  call: PodCall,
  dispatch: (plan: DispatchPlan) => Promise<Ended | undefined>,
): Promise<Answered | undefined> {
  const { run, caller, args } = call;
  const plan = run.plan(caller, args);
  if ('isError' in plan) return { answer: plan };
  const ended = await dispatch(plan);
  if (ended === undefined) return undefined;
  const { result, ...place } = ended;
  return { answer: result === undefined ? unknownOutcome : readResult(call, result), ...place };
}

/** Never throws: the command has run, and its pod is to hear that its result is taken. */
function readResult({ run, caller, args, onLost }: PodCall, result: DispatchResult): ToolAnswer {
  try {
    return run.answer(caller, args, result);
  } catch (error) {
    return onLost(error);
  }
}
