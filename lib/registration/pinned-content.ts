import { globalNamespace } from '../../crds/labels.ts';
import type { WorkflowSpec } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { type ControllerRevision, controllerRevisions, findObject, type KubeClient } from '../kube/index.ts';
import { holdsItsContent, revisionSubject, specOf } from './revision.ts';
import { unreadable } from './unreadable.ts';
import type { VersionedKind } from './versioned.ts';

/** Which stored content an execution runs, as its status says. */
interface Pin {
  readonly namespace: string;
  readonly uid: string;
  readonly revision: string;
}

/**
 * The revision that a pin names. Undefined where it is gone, or is not what the pin claims.
 * @throws AppError `unavailable` where it may not be read.
 */
export async function pinnedContent(
  kube: Pick<KubeClient, 'get'>,
  kind: VersionedKind,
  pin: Pin,
): Promise<ControllerRevision | undefined> {
  try {
    const revision = await findObject(kube, controllerRevisions, { namespace: pin.namespace, name: pin.revision });
    return revision !== undefined && isPinned(revision, kind, pin) ? revision : undefined;
  } catch (error) {
    throw unreadable(error);
  }
}

function isPinned(revision: ControllerRevision, kind: VersionedKind, { namespace, uid }: Pin): boolean {
  const subject = revisionSubject(revision);
  const isOfIt = subject?.kind === kind && subject.uid === uid && revision.metadata.namespace === namespace;
  return isOfIt && holdsItsContent(revision);
}

/**
 * The definition that an execution runs, as it was when it began. Undefined where it is gone, or is not what the status
 * claims: a status may be a stranger's.
 */
export async function pinnedSpec(
  kube: Pick<KubeClient, 'get'>,
  { metadata, status }: Pick<WorkflowExecution, 'metadata' | 'status'>,
): Promise<WorkflowSpec | undefined> {
  const pin = status?.workflow;
  if (pin === undefined || ![metadata.namespace, globalNamespace].includes(pin.namespace)) return undefined;
  const revision = await pinnedContent(kube, 'Workflow', pin);
  return revision && specOf(revision);
}
