import { group } from '../../../crds/labels.ts';
import { readyOf } from '../../../crds/ready.ts';
import type { Workflow, WorkflowSpec } from '../../../crds/schema/workflow.ts';
import type { WorkflowManifest } from '../../../crds/schema/workflow-manifest.ts';
import { isBeingDeleted } from '../../../lib/being-deleted.ts';
import { scopeOf } from '../../../lib/workflow-lookup/index.ts';
import { givenMetadata, toManifest, workflowName } from '../../../lib/manifest/index.ts';
import type { Versioned } from '../../../lib/registration/index.ts';
import type { WorkflowDefinition, WorkflowIdentity, WorkflowSummary } from './schema.ts';

export function presentIdentity(workflow: Workflow): WorkflowIdentity {
  return {
    workflow_id: workflow.metadata.uid ?? '',
    name: workflowName(workflow.metadata),
    version: workflow.spec.version,
    scope: scopeOf(workflow),
  };
}

export function presentSummary(workflow: Workflow): WorkflowSummary {
  return {
    ...presentIdentity(workflow),
    description: workflow.spec.description,
    labels: givenMetadata(workflow.metadata, isNoted).labels ?? {},
    created_at: workflow.metadata.creationTimestamp ?? '',
    ...readinessOf(workflow),
  };
}

/** Presents one version. An older one was accepted when it was stored, whatever the newest one's state. */
export function presentDefinition(workflow: Workflow, spec: WorkflowSpec): WorkflowDefinition {
  const isNewest = spec.version === workflow.spec.version;
  return {
    ...presentManifest({ ...workflow, spec }),
    workflow_id: workflow.metadata.uid ?? '',
    scope: scopeOf(workflow),
    created_at: workflow.metadata.creationTimestamp ?? '',
    ...(isNewest || isBeingDeleted(workflow) ? readinessOf(workflow) : { ready: true }),
    conditions: workflow.status?.conditions ?? [],
  };
}

/** As it was registered: what Windlass and kubectl note on the object is no part of it. */
function presentManifest(workflow: Workflow): WorkflowManifest {
  const manifest = toManifest(workflow);
  const { labels: _, annotations: __, ...metadata } = manifest.metadata;
  return { ...manifest, metadata: { ...metadata, ...givenMetadata(workflow.metadata, isNoted) } };
}

const leaving = 'it was deleted, and a finalizer still holds its object; nothing starts it any more';

const noted = /^(windlass\.dev|kubectl\.kubernetes\.io)\//;

/** Whether a label or annotation is Windlass's own to write. */
export const isOurs = (key: string): boolean => key.startsWith(`${group}/`);

const isNoted = (key: string): boolean => noted.test(key);

/** The controllers' verdict on the newest content; they give none on an older one. */
export function readinessOf(workflow: Versioned): Pick<WorkflowSummary, 'ready' | 'reason' | 'message'> {
  if (isBeingDeleted(workflow)) return { ready: false, reason: 'BeingDeleted', message: leaving };
  const condition = readyOf(workflow);
  if (condition === undefined) {
    return { ready: false, reason: 'Pending', message: 'the controllers have not looked at it yet' };
  }
  if (condition.status === 'True') return { ready: true };
  return { ready: false, reason: condition.reason, message: condition.message };
}
