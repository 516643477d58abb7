import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { BlobRef, CurrentState } from '../../crds/schema/workflow-execution-status.ts';
import { cutWithMark } from '../cut-text.ts';
import { defined } from '../defined.ts';
import { briefStatus, slimExecution } from './slim-execution.ts';

/** Characters of what a person is asked that a list shows: a tenant may have ten thousand executions that ask. */
const promptLength = 1_024;

/**
 * The fields of an execution that lists show: those that a list of executions has, and of what a person is asked the
 * beginning. A longer prompt says its size in `prompt_ref`, and where the output store does not hold it, without a `ref`.
 */
export function listedExecution(execution: WorkflowExecution): WorkflowExecution {
  const { apiVersion, kind, metadata, spec, status } = slimExecution(execution);
  const { ownerReferences: _owners, finalizers: _finalizers, ...shown } = metadata;
  const { workflow, version, signals, cancel } = spec;
  return {
    apiVersion,
    kind,
    metadata: shown,
    spec: defined({ workflow, version, signals, cancel }),
    ...(status === undefined ? {} : { status: listedStatus(status, execution.status?.current) }),
  };
}

type Status = NonNullable<WorkflowExecution['status']>;

function listedStatus(slim: Status, whole: CurrentState | undefined): Status {
  const { current } = slim;
  const asked = current === undefined ? undefined : { ...current, ...listedPrompt(whole ?? current) };
  return defined({ ...briefStatus(slim), current: asked });
}

function listedPrompt({ prompt, prompt_ref: ref }: CurrentState): Pick<CurrentState, 'prompt' | 'prompt_ref'> {
  if (prompt === undefined) return {};
  if (prompt.length <= promptLength) return defined({ prompt, prompt_ref: ref });
  return { prompt: cutWithMark(prompt, promptLength), prompt_ref: ref ?? inStatus(prompt) };
}

const inStatus = (prompt: string): BlobRef => ({
  path: '',
  ref: '',
  bytes: Buffer.byteLength(prompt),
  encoding: 'text',
});
