import type { Workflow } from '../../crds/schema/workflow.ts';
import { unlessBeingDeleted } from '../../lib/being-deleted.ts';
import type { EventSink } from '../../lib/bus/event-bus.ts';
import type { Clock } from '../../lib/clock.ts';
import { AppError, hasReason } from '../../lib/errors.ts';
import type { RejectionReason, Stimulus } from '../../lib/stimulus/stimulus.ts';
import type { Workflows } from '../cluster/workflows.ts';
import type { Classifier, ClassifyRequest } from './classifier.ts';
import { type ClassifiedDecision, decideClassified, decideRoute } from './decide-route.ts';
import { IngestError } from './ingest-error.ts';
import type { Destination } from './routing-table.ts';
import { TooManyQuestionsError } from './too-many-questions.ts';
import {
  classificationFailed,
  type Occasion,
  stimulusClassified,
  stimulusRejected,
} from '../../lib/stimulus/stimulus-events.ts';

interface RouteStimulusDeps {
  readonly clock: Clock;
  readonly events: EventSink;
  readonly workflows: Pick<Workflows, 'find'>;
  /** Absent: a source without a route cannot be classified. */
  readonly classifier?: Classifier;
}

/** The workflow of a stimulus, and how the route names it. */
interface ChosenWorkflow {
  readonly workflow: Workflow;
  readonly name: string;
}

/** Whether it is certain, before any router agent is asked, that a stimulus will start no workflow. */
export async function startsNothing(
  { workflows, classifier }: Pick<RouteStimulusDeps, 'workflows' | 'classifier'>,
  { tenant, namespace, routing }: Destination,
): Promise<boolean> {
  if (namespace === undefined) return true;
  const decision = decideRoute(routing);
  if (decision.kind !== 'routed') return decision.kind === 'rejected' || classifier === undefined;
  return unlessBeingDeleted(await workflows.find({ tenant, subject: noUser }, decision.workflow)) === undefined;
}

/** Both stages of routing, with their events (spec 1 §3.2). Throws IngestError where no workflow comes of it. */
export async function routeStimulus(
  deps: RouteStimulusDeps,
  stimulus: Stimulus,
  destination: Destination,
  onAsked?: () => void,
): Promise<ChosenWorkflow> {
  const { clock, events } = deps;
  const { tenant, routing } = destination;
  const occasion = (): Occasion => ({ stimulusId: stimulus.id, tenant, time: new Date(clock.now()).toISOString() });
  const first = decideRoute(routing);
  const decision = first.kind === 'classify' ? await classify(deps, { stimulus, onAsked }, destination, first) : first;
  if (decision.kind === 'failed') {
    events.raise(classificationFailed(occasion(), decision.error));
    throw new IngestError('classification_failed', decision.error);
  }
  if (decision.kind === 'rejected') {
    events.raise(stimulusRejected(occasion(), decision.reason));
    throw rejection(decision.reason, stimulus.source.name);
  }
  const { workflow: name } = decision;
  const workflow = unlessBeingDeleted(await deps.workflows.find({ tenant, subject: noUser }, name));
  // A decision was made, even where its workflow is not there: followers of the stimulus hear of it.
  if (workflow === undefined && decision.mode === 'LlmClassified') {
    const error = `the router agent chose a workflow that is not there: ${name.slice(0, nameShown)}`;
    events.raise(classificationFailed(occasion(), error));
    throw new IngestError('classification_failed', error);
  }
  const source = decision.mode === 'LlmClassified' ? { source: stimulus.source.name } : {};
  events.raise(stimulusClassified(occasion(), workflow?.metadata.uid ?? name, { ...decision, ...source }));
  if (workflow === undefined) throw new IngestError('workflow_error', `there is no workflow ${name}`);
  return { workflow, name };
}

/** Characters of a name that a router agent made up. */
const nameShown = 128;

async function classify(
  { classifier }: RouteStimulusDeps,
  asked: Pick<ClassifyRequest, 'stimulus' | 'onAsked'>,
  { tenant, namespace = '' }: Destination,
  { routerAgent, threshold }: { readonly routerAgent: string; readonly threshold: number },
): Promise<ClassifiedDecision> {
  if (classifier === undefined) return { kind: 'failed', error: 'router agents cannot run in this version' };
  try {
    const question = { ...asked, tenant, namespace, routerAgent };
    return decideClassified(await classifier.classify(question), threshold);
  } catch (error) {
    if (error instanceof TooManyQuestionsError) throw error;
    if (isOfAgent(error)) return { kind: 'failed', error: error.message };
    const message = 'the router agent cannot be asked at the moment; try again';
    throw new AppError('unavailable', message, { reason: routingInterrupted, cause: error });
  }
}

/** Trouble of our own is no answer of the agent, and its words are for our log. */
const isOfAgent = (error: unknown): error is AppError => hasReason(error, 'ClassificationFailed');

/** The next attempt with the key finds the execution of the router agent that this one may have made. */
export const routingInterrupted = 'RoutingInterrupted';

/** A route is the tenant's: it leads to no workflow that a user keeps for themselves. */
const noUser = '';

function rejection(reason: RejectionReason, source: string): IngestError {
  if (reason === 'LowConfidence') {
    return new IngestError('classification_failed', 'the router agent was not sure enough which workflow this is for');
  }
  return new IngestError('no_router_configured', `no StimulusRouter routes the source '${source}'`);
}
