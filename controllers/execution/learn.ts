import type { Json } from '../../crds/schema/parts.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { AppError } from '../../lib/errors.ts';
import { finished } from '../../lib/execution/finished.ts';
import type { Informer } from '../../lib/informer/index.ts';
import { keyOf } from '../../lib/kube/index.ts';
import { type BlobLocator, parseLocator } from '../../lib/output-store/blob.ts';
import { valueOf } from '../../lib/output-store/blob-value.ts';
import type { OutputStore } from '../../lib/output-store/output-store.ts';
import type { TurnGate } from '../runtime/turn-gate.ts';
import type { Need } from './engine/decision.ts';
import type { ChildFact, Facts } from './engine/facts.ts';
import type { FindWorkflow } from './find-workflow.ts';
import { type Caches, wholeChild } from './observe.ts';

export interface LearnDeps {
  readonly caches: Caches;
  /** Executions in full: the cache has of each only what wakes it. */
  readonly wholes: Pick<Informer<WorkflowExecution>, 'whole' | 'use'>;
  readonly findWorkflow: FindWorkflow;
  readonly store: Pick<OutputStore, 'get'>;
  /** Gives the reading of each stored value a turn of the event loop of its own. */
  readonly turns: TurnGate;
  /** Told that an execution waits for a workflow that is not there or not accepted, or for the key of a volume. */
  readonly onWaiting: (key: string, awaited: string) => void;
}

/** The facts with those that deciding turned out to need. */
export async function learn(deps: LearnDeps, facts: Facts, needs: readonly Need[]): Promise<Facts> {
  const known: Learned = {
    workflows: new Map(facts.workflows),
    loaded: new Map(facts.loaded),
    unreadable: new Map(facts.unreadable),
    children: new Map(facts.children.map((child) => [child.uid, child])),
  };
  await Promise.all(needs.map((need) => learnOne(deps, facts, need, known)));
  return { ...facts, ...known, children: [...known.children.values()] };
}

interface Learned {
  readonly workflows: Map<string, Awaited<ReturnType<FindWorkflow['current']>>>;
  readonly loaded: Map<string, Json>;
  readonly unreadable: Map<string, string>;
  readonly children: Map<string, ChildFact>;
}

async function learnOne(deps: LearnDeps, facts: Facts, need: Need, known: Learned): Promise<void> {
  const { namespace = '' } = facts.execution.metadata;
  switch (need.kind) {
    case 'blob': {
      const value = await load(deps, namespace, parseLocator(need.locator));
      if ('lost' in value) known.unreadable.set(need.locator, value.lost);
      else known.loaded.set(need.locator, value.json);
      return;
    }
    case 'child': {
      const child = known.children.get(need.uid);
      if (child !== undefined) known.children.set(need.uid, await childInFull(deps, child));
      return;
    }
    case 'workflow': {
      const user = facts.workflow.kind === 'found' ? facts.workflow.definition.user : undefined;
      const lookup = await deps.findWorkflow.current({ namespace, workflow: need.workflow, user });
      if (lookup.kind === 'not_ready') tellWaiting(deps, facts.execution, need.workflow);
      known.workflows.set(need.workflow, lookup);
    }
  }
}

/** One that was deleted since it ended has no result any more, and another one would do its work twice. */
async function childInFull({ caches, wholes }: LearnDeps, child: ChildFact): Promise<ChildFact> {
  const cached = caches.executions.getByUid(child.uid);
  const whole = cached && (await wholes.whole(cached));
  if (whole !== undefined) return wholeChild(whole);
  const failure = { reason: 'Deleted', message: 'it was deleted before its result was read' };
  return { ...child, isSlim: false, phase: 'failed', failure };
}

type Loaded = { readonly json: Json } | { readonly lost: string };

async function load({ store, turns }: LearnDeps, namespace: string, locator: BlobLocator): Promise<Loaded> {
  try {
    const data = await store.get(namespace, locator);
    await turns.enter(namespace);
    return { json: valueOf(data, locator) };
  } catch (error) {
    // Somebody has deleted it, and trying again would not bring it back. A store that is away is another matter.
    if (error instanceof AppError && error.code === 'not_found') return { lost: error.message };
    throw error;
  }
}

/** An execution that has ended waits for nothing. */
export function tellWaiting(
  { onWaiting }: Pick<LearnDeps, 'onWaiting'>,
  execution: WorkflowExecution,
  awaited: string,
): void {
  if (!finished(execution)) onWaiting(keyOf(execution), awaited);
}
