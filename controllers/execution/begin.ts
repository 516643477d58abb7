import type { Draft } from './draft.ts';
import { enter } from './enter.ts';
import type { Definition, Failure, WorkflowLookup } from './facts.ts';
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
  const { definition } = facts.workflow;
  if (status.current !== undefined) return true;
  const { input = {}, blackboard } = facts.execution.spec;
  const problem = inputProblem(definition.spec, input) ?? blackboardProblem(blackboard);
  if (problem !== undefined) return fail(draft, { reason: 'InvalidInput', message: problem });
  if (status.started_at === undefined) start(draft, definition);
  const volumes = volumesState(draft);
  if (volumes.kind === 'failed') return fail(draft, volumes.failure);
  if (volumes.kind === 'pending') return wait(draft, { reason: 'VolumesPending', message: volumes.message });
  noteVolumes(draft);
  seed(draft);
  const beginning = takeOver(draft);
  if (beginning.kind === 'failed') return fail(draft, beginning.failure);
  enter(draft, beginning.state);
  return status.current !== undefined;
}

function start(draft: Draft, { name, namespace, uid, version, revision }: Definition): void {
  const { status } = draft;
  status.workflow = { name, namespace, uid, version, revision };
  status.started_at = draft.time;
  status.transitions = 0;
}

/** The workflow is not there or not accepted. A run whose pinned revision was deleted fails: nobody knows its states. */
function hold(draft: Draft, { kind, failure }: Exclude<WorkflowLookup, { kind: 'found' }>): false {
  return kind === 'not_ready' || comesLater(draft, failure) ? wait(draft, failure) : fail(draft, failure);
}

/** Of two files that are applied together the execution may come first: its workflow gets a moment to follow. */
function comesLater(draft: Draft, { reason }: Failure): boolean {
  const { creationTimestamp } = draft.facts.execution.metadata;
  const until = Date.parse(creationTimestamp ?? draft.time) + workflowGraceMs;
  const waits = reason === 'WorkflowNotFound' && draft.status.workflow === undefined && draft.now < until;
  if (waits) draft.wakeAt(until);
  return waits;
}

function wait({ status }: Draft, { reason, message }: Failure): false {
  Object.assign(status, { phase: 'pending', reason, message });
  return false;
}

function fail(draft: Draft, failure: Failure): false {
  finish(draft, 'failed', failure);
  return false;
}

/** Which claims the execution works with, for whoever looks at it. */
function noteVolumes({ status, facts }: Draft): void {
  const rows = Object.entries(facts.volumes);
  if (rows.length === 0) return;
  status.volumes = Object.fromEntries(
    rows.map(([name, { volume, claim }]) => [name, claim === undefined ? { volume } : { volume, claim }]),
  );
}

/** spec 1 §2.6: the Blackboard begins with `spec.context` and the pairs of the caller, who wins. */
function seed(draft: Draft): void {
  for (const [key, value] of Object.entries(draft.spec.context ?? {})) draft.write(key, value);
  for (const [key, value] of Object.entries(draft.facts.execution.spec.blackboard ?? {})) draft.write(key, value);
}
