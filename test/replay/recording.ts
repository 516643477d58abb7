import type { Decision } from '../../controllers/execution/engine/decision.ts';
import type { Facts, WorkflowLookup } from '../../controllers/execution/engine/facts.ts';
import type { Json } from '../../crds/schema/parts.ts';

/** One decision of a released version, as JSON: the facts it was given and what it decided. */
export interface Recorded {
  readonly now: number;
  readonly facts: Omit<Facts, 'workflows' | 'loaded'> & {
    readonly workflows: readonly (readonly [string, WorkflowLookup])[];
    readonly loaded: readonly (readonly [string, Json])[];
  };
  readonly decision: Pick<Decision, 'status' | 'actions' | 'happenings' | 'wakeAt'> & {
    readonly blobs: readonly string[];
  };
}

/** A run of one workflow from its beginning to its end. */
export interface Recording {
  readonly name: string;
  /** Version of Windlass that decided. */
  readonly version: string;
  readonly decisions: readonly Recorded[];
}

export function toRecorded(facts: Facts, now: number, decision: Decision): Recorded {
  const plain = { ...facts, workflows: [...facts.workflows], loaded: [...facts.loaded] };
  return structuredClone({ now, facts: plain, decision: decided(decision) });
}

class Everything extends Set<string> {
  override has(): boolean {
    return true;
  }
}

/** Version 0.1.0 kept the execution's own workflow among the others, under `own`. */
export function factsOf({ facts }: Recorded): Facts {
  const { own, ...others } = Object.fromEntries(facts.workflows);
  const workflow = own ?? facts.workflow;
  return {
    ...facts,
    // Recordings that are older than this fact were decided by what the watch showed, which then was the truth.
    asked: new Everything(),
    workflow,
    workflows: new Map(Object.entries(others)),
    loaded: new Map(facts.loaded),
  };
}

/** The part of a decision that must not change: of blobs only their names, which are hashes. */
export function decided({ status, actions, happenings, wakeAt, blobs }: Decision): Recorded['decision'] {
  return JSON.parse(
    JSON.stringify({ status, actions, happenings, wakeAt, blobs: blobs.map(({ ref }) => ref) }),
  ) as Recorded['decision'];
}
