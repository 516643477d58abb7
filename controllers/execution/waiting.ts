import { globalNamespace } from '../../crds/labels.ts';
import type { Volume } from '../../crds/schema/volume.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { formerIdsOf } from '../../lib/workflow-lookup/index.ts';
import { finished } from '../../lib/execution/finished.ts';
import type { Informer } from '../../lib/informer/index.ts';
import { keyOf, refOfKey } from '../../lib/kube/index.ts';
import { workflowName } from '../../lib/manifest/index.ts';

/** Executions that wait for a workflow, by its name or uid, or for a volume, by its key. */
export interface WaitingExecutions {
  add(key: string, awaited: string): void;
  /** Takes out the executions that wait for one of these names, in one namespace or in any. */
  take(names: readonly string[], namespace?: string): readonly string[];
  /** The execution is gone, or nothing can bring it forward any more. */
  forget(key: string): void;
}

export function createWaiting(): WaitingExecutions {
  const keysOf = new Map<string, Set<string>>();
  const namesOf = new Map<string, Set<string>>();
  const unlink = (key: string, name: string): void => {
    remove(keysOf, name, key);
    remove(namesOf, key, name);
  };
  return {
    add(key, awaited) {
      keysOf.set(awaited, (keysOf.get(awaited) ?? new Set()).add(key));
      namesOf.set(key, (namesOf.get(key) ?? new Set()).add(awaited));
    },
    take(names, namespace) {
      const isTheirs = (key: string): boolean => namespace === undefined || refOfKey(key).namespace === namespace;
      return names.flatMap((name) => {
        const taken = [...(keysOf.get(name) ?? [])].filter(isTheirs);
        for (const key of taken) unlink(key, name);
        return taken;
      });
    },
    forget(key) {
      for (const name of namesOf.get(key) ?? []) unlink(key, name);
    },
  };
}

function remove(sets: Map<string, Set<string>>, at: string, member: string): void {
  const set = sets.get(at);
  set?.delete(member);
  if (set?.size === 0) sets.delete(at);
}

/** An execution that has ended waits for nothing. */
export function tellWaiting(
  { onWaiting }: { readonly onWaiting: (key: string, awaited: string) => void },
  execution: WorkflowExecution,
  awaited: string,
): void {
  if (!finished(execution)) onWaiting(keyOf(execution), awaited);
}

/** Reasons for which executions wait. */
interface Awaited {
  readonly workflows: Pick<Informer<Workflow>, 'onChange'>;
  readonly volumes: Pick<Informer<Volume>, 'onChange'>;
  readonly executions: Pick<Informer<WorkflowExecution>, 'onChange'>;
}

/** A change of what an execution waits for wakes it, and one that is over waits no more. */
export function connectWaiting(awaited: Awaited, waiting: WaitingExecutions, wake: (key: string) => void): void {
  awaited.workflows.onChange(({ before, after }) => {
    const workflow = after ?? before;
    if (workflow === undefined) return;
    const { name, uid = '', namespace } = workflow.metadata;
    const names = [workflowName(workflow.metadata), name, uid, ...formerIdsOf(workflow)];
    waiting.take(names, namespace === globalNamespace ? undefined : namespace).forEach(wake);
  });
  awaited.volumes.onChange(({ key }) => waiting.take([key]).forEach(wake));
  awaited.executions.onChange(({ key, after }) => {
    if (after === undefined || finished(after)) waiting.forget(key);
  });
}
