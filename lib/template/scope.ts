/** Facts that templates and expressions may name (spec 1 §2.6, "Template variables"). */
export interface ScopeFacts {
  /** The caller's intent; absent when none was given. */
  readonly intent?: string;
  /** The validated start input. */
  readonly input?: unknown;
  readonly workflow: {
    /** `spec.context`, as the author wrote it. */
    readonly context?: unknown;
    /** The target of `volumes[].volume`: `workspace` and `shared_volumes.NAME`. */
    readonly storage?: unknown;
  };
  /** All Blackboard keys; the entries of finished states are under the state's name. May hold LargeValue anywhere. */
  readonly blackboard: Readonly<Record<string, unknown>>;
  readonly state?: { readonly feedback?: unknown };
  readonly human?: { readonly feedback?: unknown };
  readonly execution: { readonly id: string };
  /** Every state of the workflow. */
  readonly stateNames: Iterable<string>;
  /** States whose entry is on the Blackboard; decides how a missing key is described. */
  readonly completedStates: Iterable<string>;
  /** Whether a missing key prints its placeholder (WF-TPL-31); otherwise it prints as nothing. Default: true. */
  readonly placeholders?: boolean;
}

/** The map in which a path's first segment is looked up. */
export interface TemplateScope {
  readonly root: Readonly<Record<string, unknown>>;
  readonly stateNames: ReadonlySet<string>;
  readonly completedStates: ReadonlySet<string>;
  readonly placeholders: boolean;
}

/**
 * Builds the scope of one state. `{{STATE.…}}` reads the Blackboard under the state's name; other Blackboard keys are
 * reached by `{{blackboard.KEY}}` only, so `input`, `workflow.context` and the Blackboard never mix (WF-MAN-14).
 */
export function createScope(facts: ScopeFacts): TemplateScope {
  const stateNames = new Set(facts.stateNames);
  const root = Object.create(null) as Record<string, unknown>;
  for (const name of stateNames) {
    if (Object.hasOwn(facts.blackboard, name)) root[name] = facts.blackboard[name];
  }
  const { intent, input, workflow, blackboard, state, human, execution } = facts;
  Object.assign(root, { intent, input, workflow, blackboard, state: state ?? {}, human: human ?? {}, execution });
  const { completedStates, placeholders = true } = facts;
  return { root, stateNames, completedStates: new Set(completedStates), placeholders };
}
