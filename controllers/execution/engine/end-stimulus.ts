import type { EventReason, ExecutionReason, StimulusReason } from '../../../crds/conditions.ts';
import { annotations } from '../../../crds/labels.ts';
import { limits } from '../../../crds/limits.ts';
import type { Json } from '../../../crds/schema/parts.ts';
import type { EndStimulus } from '../../../crds/schema/workflow-execution-status.ts';
import { AppError } from '../../../lib/errors.ts';
import { locatorOf, locatorText } from '../../../lib/output-store/blob.ts';
import { executionFields, executionMetadata, executionName } from '../../../lib/stimulus/execution-fields.ts';
import type { Stimulus } from '../../../lib/stimulus/stimulus.ts';
import { endStimulusId } from '../../../lib/stimulus/workflow-source.ts';
import { LargeValue } from '../../../lib/template/large-value.ts';
import { type Draft, LackingFacts } from './draft.ts';
import type { PinnedDefinition, Facts } from './facts.ts';
import { inputProblem } from './input.ts';
import { linkDepth } from './links.ts';
import { lookUp } from './lacking.ts';
import { rootOf } from './names.ts';
import { resolve } from './stored.ts';

/** Why an end starts nothing, in one sentence. */
interface Obstacle {
  readonly reason: StimulusReason | ExecutionReason;
  readonly message: string;
}

/** How long until a workflow that has not been judged yet is looked at again. */
const unjudgedMs = 2_000;

/**
 * The stimulus that the end of an execution becomes, where a StimulusRouter of its tenant has a route for its workflow
 * (requirements AMB-189). It is written down with the end itself: a route that comes later is for those that end later,
 * and executions without a route cost nothing.
 */
export function endStimulus(facts: Facts): EndStimulus | undefined {
  const { onEnd, execution } = facts;
  if (onEnd === undefined) return undefined;
  const stimulus = { id: endStimulusId(execution.metadata.uid ?? '', onEnd.source), ...onEnd };
  return { ...stimulus, ...chainProblem(facts) };
}

/** A chain of any length, or of any breadth, would fill the cluster. */
function chainProblem({ execution, descendants = 0 }: Facts): Obstacle | undefined {
  if (linkDepth(execution) >= limits.stimulusLinksMax) {
    const message = `the chain is ${limits.stimulusLinksMax} links long, which is the longest; do its routes form a loop?`;
    return { reason: 'TooManyLinks', message };
  }
  if (descendants < limits.descendantsMax) return undefined;
  const message = `the execution that began the chain has ${limits.descendantsMax} executions under it`;
  return { reason: 'DescendantsExceeded', message };
}

/** Writes down the stimulus of an execution that ends in this decision. */
export function noteEndStimulus(draft: Draft): void {
  const stimulus = endStimulus(draft.facts);
  if (stimulus === undefined) return;
  draft.change({ kind: 'status', fields: { stimulus } });
  if (stimulus.reason !== undefined) sayRefused(draft, stimulus);
}

/**
 * Starts what the end of the execution is to start, once: the name of the new execution follows from the old one. True when
 * nothing is left to do. `last`: when the execution has to go, in milliseconds since the epoch.
 */
export function sendEndStimulus(draft: Draft, last: number): boolean {
  const { stimulus } = draft.status;
  if (stimulus === undefined || stimulus.execution !== undefined || stimulus.reason !== undefined) return true;
  const { linked } = draft.facts;
  if (linked !== undefined) return noteStarted(draft, stimulus, linked);
  const obstacle = attempt(draft, stimulus) ?? expiry(draft, last);
  if (obstacle === undefined) return false;
  const refused = { ...stimulus, reason: obstacle.reason, message: obstacle.message };
  draft.change({ kind: 'status', fields: { stimulus: refused } });
  sayRefused(draft, refused);
  return true;
}

function noteStarted(draft: Draft, stimulus: EndStimulus, { name, uid }: { name: string; uid: string }): true {
  draft.change({ kind: 'status', fields: { stimulus: { ...stimulus, execution: { name, uid } } } });
  const reason: EventReason = 'StimulusSent';
  draft.recordEvent('Normal', reason, `${stimulus.source} started execution ${name} of workflow ${stimulus.workflow}`);
  return true;
}

function sayRefused(draft: Draft, { source, workflow, message = '' }: EndStimulus): void {
  const reason: EventReason = 'StimulusRefused';
  draft.recordEvent('Warning', reason, `${source} starts no execution of workflow ${workflow}: ${message}`);
}

/** A workflow that can never be started is an obstacle, for which nothing is tried again. */
function attempt(draft: Draft, stimulus: EndStimulus): Obstacle | undefined {
  try {
    return start(draft, stimulus);
  } catch (error) {
    if (error instanceof LackingFacts || !(error instanceof AppError)) throw error;
    return { reason: reasonOf(error), message: error.message };
  }
}

const reasonOf = ({ reason }: AppError): Obstacle['reason'] =>
  reason === 'OutputLost' || reason === 'WorkBudgetExceeded' ? reason : 'ContentTooLarge';

function start(draft: Draft, stimulus: EndStimulus): Obstacle | undefined {
  const { blocked, taken } = draft.facts;
  const name = executionName(stimulus.id);
  if (taken === name) return { reason: 'NameTaken', message: `an object that is not ours is called ${name}` };
  if (blocked?.child === name) return { reason: 'Refused', message: blocked.message };
  const lookup = lookUp(draft, stimulus.workflow);
  if (lookup.kind === 'absent') return lookup.failure;
  if (lookup.kind === 'not_ready') {
    draft.wakeAt(draft.now + unjudgedMs);
    return undefined;
  }
  return startRun(draft, stimulus, lookup.definition);
}

function startRun(
  draft: Draft,
  { id, source, workflow }: EndStimulus,
  definition: PinnedDefinition,
): Obstacle | undefined {
  const output = finalOutput(draft);
  if (output === undefined) return tooLarge;
  const stimulus = stimulusOf(draft, { id, source }, output);
  const { input, ...fields } = executionFields(stimulus);
  draft.weigh(input);
  if (Buffer.byteLength(JSON.stringify(input)) > limits.executionInputBytes) return tooLarge;
  const problem = inputProblem(definition.spec, input, draft.work);
  if (problem !== undefined) return { reason: 'InvalidInput', message: problem };
  const { labels, annotations: marks } = executionMetadata(stimulus);
  draft.act({
    kind: 'create_linked',
    plan: {
      name: executionName(id),
      namespace: draft.facts.execution.metadata.namespace,
      workflow: { reference: workflow, object: definition.name, uid: definition.uid, version: definition.version },
      spec: { ...fields, input },
      labels,
      annotations: { ...marks, ...linkMarks(draft) },
    },
  });
  return undefined;
}

const tooLarge: Obstacle = {
  reason: 'ContentTooLarge',
  message: `the final output does not fit into an input, which takes ${limits.executionInputBytes} bytes`,
};

/** Undefined where it is larger than any input; nothing is read for that. */
function finalOutput(draft: Draft): Json | undefined {
  const { final_output: inline, final_output_ref: part } = draft.status;
  if (part === undefined) return (inline ?? null) as Json;
  if (part.bytes > limits.executionInputBytes) return undefined;
  return resolve(draft, new LargeValue(locatorText(locatorOf(draft.executionUid, part)), part.bytes)) as Json;
}

function stimulusOf(draft: Draft, { id, source }: Pick<EndStimulus, 'id' | 'source'>, output: Json): Stimulus {
  const { status } = draft;
  return {
    id,
    source: { kind: 'WorkflowEngineSignal', name: source },
    content: {
      execution_id: draft.executionUid,
      workflow: status.workflow?.name ?? '',
      status: status.phase,
      final_output: output,
    },
    headers: {},
    receivedAt: status.finished_at ?? draft.time,
  };
}

function linkMarks({ facts: { execution } }: Draft): Record<string, string> {
  return {
    [annotations.linkedFrom]: execution.metadata.name,
    [annotations.linkRoot]: rootOf(execution),
    [annotations.linkDepth]: String(linkDepth(execution) + 1),
  };
}

/** An execution cannot wait for ever for one that a quota, say, has no room for. */
function expiry(draft: Draft, last: number): Obstacle | undefined {
  draft.wakeAt(last);
  if (draft.now < last) return undefined;
  return { reason: 'StimulusExpired', message: draft.facts.blocked?.message ?? 'its workflow was not ready in time' };
}
