import { labels } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { type KubeObject, keyOf } from '../../lib/kube/index.ts';
import type { Wakes } from '../runtime/module.ts';
import { wakeUnseen } from '../runtime/wakes.ts';
import { podInformer } from '../step-pods/informer.ts';
import { ownerKey } from '../step-pods/step.ts';
import { tenantInformer } from '../tenants.ts';
import { volumeInformer } from '../volume/informers.ts';
import { revisionInformer, workflowInformer } from '../workflow/informers.ts';
import { routerInformer } from '../stimulus-router/informer.ts';
import { agentExecutionInformer } from '../agent-execution/informer.ts';
import { executionInformer } from './informer.ts';
import { toolCallInformer } from './tool-call-informer.ts';
import { linkOriginKey, originKey } from './origin.ts';

/** The caches that executions are decided from. */
export const executionInformers = {
  executions: executionInformer,
  agents: agentExecutionInformer,
  toolCalls: toolCallInformer,
  workflows: workflowInformer,
  revisions: revisionInformer,
  volumes: volumeInformer,
  pods: podInformer,
  tenants: tenantInformer,
  routers: routerInformer,
} as const;

/** Which executions a change wakes. Only the name travels; what happened is read again (house style, "Level"). */
export const executionWakes: Wakes<typeof executionInformers> = {
  executions(change) {
    const { before, after } = change;
    const parent = parentKey(after ?? before);
    const origins = before === undefined && after !== undefined ? [originKey(after), linkOriginKey(after)] : [];
    return [...wakeUnseen(change), ...keysOf(parent), ...origins.flatMap(keysOf)];
  },
  /** The state that waits for it. */
  agents({ before, after }) {
    const { metadata, spec } = after ?? before ?? {};
    return spec?.parent === undefined ? [] : [`${metadata?.namespace}/${spec.parent.name}`];
  },
  toolCalls({ before, after }) {
    const { metadata, spec } = after ?? before ?? {};
    return spec === undefined ? [] : [`${metadata?.namespace}/${spec.parent.name}`];
  },
  pods({ before, after, own }) {
    const pod = after ?? before;
    return own || pod === undefined ? [] : keysOf(ownerKey(pod, 'WorkflowExecution'));
  },
  volumes({ before, after }, { executions }) {
    const maker = executions.cache.getByUid((after ?? before)?.metadata.labels?.[labels.executionUid] ?? '');
    return maker === undefined ? [] : [keyOf(maker)];
  },
  /**
   * A namespace that is being deleted wakes whatever holds a finalizer in it. Kubernetes begins to delete its content five
   * seconds later, in no particular order, and without the role binding we may not remove finalizers.
   */
  tenants({ after }, { executions, pods }) {
    if (after?.metadata.deletionTimestamp === undefined) return [];
    const isInside = ({ metadata }: KubeObject): boolean => metadata.namespace === after.metadata.name;
    const ofPods = [...pods.cache.values()]
      .filter(isInside)
      .flatMap((pod) => keysOf(ownerKey(pod, 'WorkflowExecution')));
    return [...ofPods, ...[...executions.cache.values()].filter(isInside).map(keyOf)];
  },
};

const keysOf = (key: string | undefined): string[] => (key === undefined ? [] : [key]);

function parentKey(execution: WorkflowExecution | undefined): string | undefined {
  const parent = execution?.spec.parent;
  return parent === undefined ? undefined : `${execution?.metadata.namespace}/${parent.name}`;
}
