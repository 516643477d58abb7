import type { Stimulus } from '../../lib/stimulus/stimulus.ts';
import type { Classification } from './decide-route.ts';

/** The question to a router agent (spec 1 §3.2): the content and every header of the request but credentials. */
export interface ClassifyRequest {
  readonly stimulus: Stimulus;
  readonly tenant: string;
  readonly namespace: string;
  /** Name or uid of the Agent. */
  readonly routerAgent: string;
  /** Called when nothing more of the stimulus is looked at: the question is made, and its answer may take long. */
  readonly onAsked?: () => void;
}

/**
 * Stage 2 of routing: lets an agent choose a workflow. Ends within a time limit of its own. An AppError with the reason
 * `ClassificationFailed` is the verdict; its message is published, so it holds neither content nor secrets. Anything else
 * that it throws is trouble of ours, such as AppError `unavailable` with the reason `Overloaded` for a tenant with too many questions.
 */
export interface Classifier {
  classify(request: ClassifyRequest, signal?: AbortSignal): Promise<Classification>;
}
