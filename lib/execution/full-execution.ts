import type { Json } from '../../crds/schema/parts.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { CurrentState, StoredValue } from '../../crds/schema/workflow-execution-status.ts';
import type { OutputReader } from './output-reader.ts';
import { blobValue, wholeValue } from './whole-value.ts';

/** `final_output`, wherever it is kept; undefined where the workflow declares none or has not completed. */
export async function finalOutput(outputs: OutputReader, execution: WorkflowExecution): Promise<Json | undefined> {
  const { final_output: inline, final_output_ref: ref } = execution.status ?? {};
  if (inline !== undefined || ref === undefined) return inline;
  return blobValue(ref, outputs(execution));
}

type Asked = Pick<CurrentState, 'prompt' | 'prompt_ref'>;

/** The whole question of a Human state, wherever it is kept. */
export async function wholePrompt(
  outputs: OutputReader,
  execution: WorkflowExecution,
  { prompt = '', prompt_ref: ref }: Asked,
): Promise<string> {
  const whole = ref === undefined ? prompt : await blobValue(ref, outputs(execution));
  return typeof whole === 'string' ? whole : prompt;
}

/** The execution with every value of the Blackboard, the prompt and the final output in full, and no references left. */
export async function fullExecution(outputs: OutputReader, execution: WorkflowExecution): Promise<WorkflowExecution> {
  const { status } = execution;
  if (status === undefined) return execution;
  const read = outputs(execution);
  const inFull = async (stored: StoredValue): Promise<StoredValue> => ({ value: await wholeValue(stored, read) });
  const entries = Object.entries(status.blackboard ?? {});
  const blackboard = await Promise.all(entries.map(async ([key, stored]) => [key, await inFull(stored)] as const));
  const history = await Promise.all(
    (status.history ?? []).map(async (visit) =>
      visit.output === undefined ? visit : { ...visit, output: await inFull(visit.output) },
    ),
  );
  const { final_output_ref: _, current, ...rest } = status;
  const output = await finalOutput(outputs, execution);
  return {
    ...execution,
    status: {
      ...rest,
      history,
      ...(current === undefined ? {} : { current: await askedInFull(outputs, execution, current) }),
      blackboard: Object.fromEntries(blackboard),
      ...(output === undefined ? {} : { final_output: output as Record<string, Json> }),
    },
  };
}

async function askedInFull(
  outputs: OutputReader,
  execution: WorkflowExecution,
  current: CurrentState,
): Promise<CurrentState> {
  const { prompt_ref: ref, ...rest } = current;
  return ref === undefined ? current : { ...rest, prompt: await wholePrompt(outputs, execution, current) };
}
