import { enter } from './advance.ts';
import type { Draft } from './draft.ts';
import type { PinnedDefinition, Failure, WorkflowLookup } from './facts.ts';
import { finish } from './finish.ts';
import { blackboardProblem, inputProblem } from './input.ts';
import { volumesState } from './prepare-volumes.ts';
import { takeOver } from './take-over.ts';

/** How long a new execution waits for a workflow that does not exist, in milliseconds. */
const workflowGraceMs = 5_000;

/**
 * Brings the execution to its first state: pins the workflow, checks the input, makes the volumes, seeds the
 * Blackboard. True once the execution is in a state; false while it waits or has ended.
 */
export function begin(draft: Draft): boolean {
  const { status, facts } = draft;
  if (facts.workflow.kind !== 'found') return hold(draft, facts.workflow);
  if (status.current !== undefined) return true;
  const { refused } = facts;
  if (refused !== undefined && refused.consequence !== 'one_state') return fail(draft, refused.failure);
  const { definition } = facts.workflow;
  return (status.started_at !== undefined || accept(draft, definition)) && prepare(draft);
}

/** Checks the input, once. */
function accept(draft: Draft, definition: PinnedDefinition): boolean {
  const { input = {}, blackboard } = draft.facts.execution.spec;
  const problem = inputProblem(definition.spec, input, draft.work) ?? blackboardProblem(blackboard);
  if (problem !== undefined) return fail(draft, { reason: 'InvalidInput', message: problem });
  start(draft, definition);
  return draft.isTurnOver ? waitForTurn(draft) : true;
}

function prepare(draft: Draft): boolean {
  const volumes = volumesState(draft);
  if (volumes.kind === 'failed') return fail(draft, volumes.failure);
  if (volumes.kind === 'pending') return wait(draft, { reason: 'VolumesPending', message: volumes.message });
  noteVolumes(draft);
  seed(draft);
  const beginning = takeOver(draft);
  if (beginning.kind === 'failed') return fail(draft, beginning.failure);
  enter(draft, beginning.state);
  draft.hasProgress = true;
  return draft.status.current !== undefined;
}

function start(draft: Draft, { name, namespace, uid, version, revision }: PinnedDefinition): void {
  const workflow = { name, namespace, uid, version, revision };
  draft.change({ kind: 'status', fields: { workflow, started_at: draft.time, transitions: 0 } });
  draft.hasProgress = true;
}

/** The workflow is not there or not accepted. A run whose pinned revision was deleted fails: its states are unknown. */
function hold(draft: Draft, { kind, failure }: Exclude<WorkflowLookup, { kind: 'found' }>): false {
  return kind === 'not_ready' || comesLater(draft, failure) ? wait(draft, failure) : fail(draft, failure);
}

/** Where two files are applied together the execution may come first: its workflow gets a moment to follow. */
function comesLater(draft: Draft, { reason }: Failure): boolean {
  const { creationTimestamp } = draft.facts.execution.metadata;
  const until = Date.parse(creationTimestamp ?? draft.time) + workflowGraceMs;
  const waits = reason === 'WorkflowNotFound' && draft.status.workflow === undefined && draft.now < until;
  if (waits) draft.wakeAt(until);
  return waits;
}

function wait(draft: Draft, { reason, message }: Failure): false {
  draft.change({ kind: 'status', fields: { phase: 'pending', reason, message } });
  return false;
}

/** A large input may have taken the whole turn. */
function waitForTurn(draft: Draft): false {
  draft.wakeAt(draft.now);
  return wait(draft, { reason: 'Pending', message: 'its input was accepted' });
}

function fail(draft: Draft, failure: Failure): false {
  finish(draft, 'failed', failure);
  return false;
}

/** Shows which claims the execution works with. */
function noteVolumes(draft: Draft): void {
  const rows = Object.entries(draft.facts.volumes);
  if (rows.length === 0) return;
  const volumes = Object.fromEntries(
    rows.map(([name, { volume, claim }]) => [name, claim === undefined ? { volume } : { volume, claim }]),
  );
  draft.change({ kind: 'status', fields: { volumes } });
}

/** spec 1 §2.6: the Blackboard begins with `spec.context` and the pairs of the caller, who wins. */
function seed(draft: Draft): void {
  for (const pairs of [draft.spec.context ?? {}, draft.facts.execution.spec.blackboard ?? {}]) {
    for (const [key, value] of Object.entries(pairs)) {
      draft.weigh(value);
      draft.write(key, value);
    }
  }
}
