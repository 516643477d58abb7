import { annotations } from '../../../../crds/labels.ts';
import { limits } from '../../../../crds/limits.ts';
import type { WorkflowExecution } from '../../../../crds/schema/workflow-execution.ts';
import { HttpError } from '../../../../lib/http/index.ts';
import { workflowExecutions } from '../../../../lib/kinds.ts';
import { findObject, isAlreadyExists, type KubeClient } from '../../../../lib/kube/index.ts';
import { storedBytes } from '../../../../lib/kube/stored-bytes.ts';
import type { Caller } from '../../../../lib/identity/caller.ts';
import { writeRefusal } from '../../write-refusal.ts';

type ExecutionCreator = Pick<KubeClient, 'create' | 'get'>;

/** Largest size of a new execution in etcd: the largest input and some room for names; the rest is its status's. */
const startBytes = limits.executionInputBytes + 64 * 1024;

/**
 * Creates the execution. Where the answer got lost it is looked up by its name, so that what exists is acknowledged.
 * Throws HttpError for what the cluster refuses, in the words of the contract.
 */
export async function createExecution(kube: ExecutionCreator, wanted: WorkflowExecution): Promise<WorkflowExecution> {
  if (storedBytes(wanted) > startBytes) throw tooLarge();
  try {
    return await kube.create(workflowExecutions, wanted);
  } catch (error) {
    if (isAlreadyExists(error)) throw error;
    const refusal = writeRefusal(error, tooLarge);
    if (refusal !== undefined) throw refusal;
    const found = await findObject(kube, workflowExecutions, wanted.metadata);
    if (found === undefined) throw error;
    return found;
  }
}

/**
 * Throws 422 where the object under this key was started by another request, and 409 where the API did not start it.
 * Its name follows from caller and key, and only the API writes who started an execution.
 */
export function assertSameRequest(
  { metadata }: Pick<WorkflowExecution, 'metadata'>,
  request: string,
  { subject }: Pick<Caller, 'subject'>,
): void {
  const { [annotations.request]: known, [annotations.startedBy]: by } = metadata.annotations ?? {};
  if (by !== subject) {
    const message = `an object named ${metadata.name} that this caller did not start is in the way of the Idempotency-Key`;
    throw new HttpError({ code: 'already_exists', message });
  }
  if (known === request) return;
  const message = 'this Idempotency-Key was used for another request; take a new one for each start';
  throw new HttpError({ code: 'invalid', status: 422, error: 'idempotency_key_reused', message });
}

/** Throws 409 where the execution of this name was started by another caller, or otherwise. */
export function assertSameStart({ metadata }: WorkflowExecution, request: string, { subject }: Caller): void {
  const { [annotations.request]: known, [annotations.startedBy]: by } = metadata.annotations ?? {};
  if (known === request && by === subject) return;
  throw new HttpError({
    code: 'already_exists',
    message: `body.name: there is an execution named ${metadata.name} already; choose another name`,
  });
}

function tooLarge(cause?: unknown): HttpError {
  const message =
    'the execution would be too large to be stored; pass large input by reference. <, > and & take six bytes each';
  return new HttpError({ code: 'limit_exceeded', message, cause });
}
