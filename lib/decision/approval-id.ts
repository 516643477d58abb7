import { hash } from 'node:crypto';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { waitingFor } from './human-decision.ts';

/** The namespace of our ids, as RFC 9562 §5.5 has it. Never to be changed: ids are kept by others. */
const namespace = Buffer.from('5b3c0f6a-7f0e-4d0c-9f0b-2a6d5f1c8e47'.replaceAll('-', ''), 'hex');

/**
 * Id of what is asked of people: a UUID of version 5 over `<execution uid>/<state>/<visit>`. Every replica finds the
 * same one without storing it; another visit of the state is another request.
 */
export function approvalId(executionUid: string, { state, visit }: { state: string; visit: number }): string {
  const name = Buffer.from(`${executionUid}/${state}/${visit}`);
  const bytes = hash('sha1', Buffer.concat([namespace, name]), 'buffer').subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Id of the last answered question; undefined where none was answered. */
export function answeredIdOf({ metadata: { uid }, spec }: WorkflowExecution): string | undefined {
  const { state, visit } = spec.signals?.at(-1) ?? {};
  return uid === undefined || state === undefined || visit === undefined
    ? undefined
    : approvalId(uid, { state, visit });
}

/** Id of the execution's present question; undefined where it asks none. */
export function approvalIdOf(execution: WorkflowExecution): string | undefined {
  const waiting = waitingFor(execution);
  const { uid } = execution.metadata;
  return waiting === undefined || uid === undefined ? undefined : approvalId(uid, waiting);
}
