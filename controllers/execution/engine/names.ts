import { annotations } from '../../../crds/labels.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { shortHash } from '../../../lib/ids.ts';
import type { PodSlot } from '../../../lib/pod-slot.ts';

/** Longest name of a pod that may serve as a host name, and of a label's value. */
const labelLength = 63;
const hashLength = 10;

/** The name of a pod: readable, and the same for the same execution, state, visit, attempt and step. */
export function podName(execution: WorkflowExecution, slot: PodSlot): string {
  const parts = [slot.state, slot.step ?? '', slot.visit, slot.attempt];
  return hashedName(
    execution,
    [execution.metadata.name, slot.state, ...(slot.step === undefined ? [] : [slot.step])],
    parts,
  );
}

/** Uid of the execution that began it all, by children or by the end of one that started the next: a root's own. */
export const rootOf = ({ metadata, spec }: WorkflowExecution): string =>
  spec.parent?.root ?? spec.parent?.uid ?? metadata.annotations?.[annotations.linkRoot] ?? metadata.uid ?? '';

/** The name of a child execution. */
export function childName(
  execution: WorkflowExecution,
  at: { readonly state: string; readonly visit: number },
): string {
  return hashedName(execution, [execution.metadata.name, at.state], ['child', at.state, at.visit]);
}

/** The name of an AgentExecution; `judge` is its place in a ParallelAgents state. */
export function agentName(
  execution: WorkflowExecution,
  at: { readonly state: string; readonly visit: number; readonly judge?: number | undefined },
): string {
  const place = at.judge === undefined ? [] : [at.judge];
  const readable = [execution.metadata.name, at.state, ...place.map(String)];
  return hashedName(execution, readable, ['agent', at.state, at.visit, ...place]);
}

/** The name of the ToolCall of a visit. */
export function toolCallName(
  execution: WorkflowExecution,
  at: { readonly state: string; readonly visit: number },
): string {
  return hashedName(execution, [execution.metadata.name, at.state], ['tool', at.state, at.visit]);
}

/** Another name beside one that is taken; `id` is the unforeseeable part. */
export function nameBeside(name: string, id: string): string {
  return `${name.slice(0, labelLength - hashLength - 1).replace(/-+$/, '')}-${id.slice(0, hashLength)}`;
}

/**
 * The name of a volume that is made for the execution, and of its claim. The hash distinguishes similar names, such as
 * `a b` and `A-b` (requirements AMB-179); the uid in it is not known to the author of the names.
 */
export function volumeName(execution: WorkflowExecution, name: string): string {
  return hashedName(execution, [execution.metadata.name, name], ['volume', name]);
}

/** The readable part is cut to fit; the hash of everything keeps names apart. */
function hashedName(
  execution: WorkflowExecution,
  readable: readonly string[],
  identity: readonly (string | number)[],
): string {
  const hash = shortHash(JSON.stringify([execution.metadata.uid, ...identity]), hashLength);
  const text = readable
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-');
  return `${text.slice(0, labelLength - hashLength - 1).replace(/-+$/, '')}-${hash}`;
}
