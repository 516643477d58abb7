import type { RejectionReason } from '../../lib/stimulus/stimulus.ts';

/** The rules of a tenant's routers for a source. */
export interface Routing {
  /** Name or uid of the workflow that the source is routed to. */
  readonly workflow?: string;
  /** Name or uid of the agent that chooses where there is no route. */
  readonly routerAgent?: string;
  /** How sure that agent must be. */
  readonly confidenceThreshold: number;
}

/** A workflow was chosen (spec 1 §2.4, RoutingDecision). */
interface Routed {
  readonly kind: 'routed';
  /** Name or uid. */
  readonly workflow: string;
  /** 0 to 1; exactly 1 without a router agent. */
  readonly confidence: number;
  readonly mode: 'Deterministic' | 'LlmClassified';
}

export type RouteDecision =
  | Routed
  | { readonly kind: 'classify'; readonly routerAgent: string; readonly threshold: number }
  | { readonly kind: 'rejected'; readonly reason: RejectionReason };

/** Stage 1: the table of routes (spec 1 §3.2). Where it knows the source, no router agent is asked. Pure. */
export function decideRoute({ workflow, routerAgent, confidenceThreshold }: Routing): RouteDecision {
  if (workflow !== undefined) return { kind: 'routed', workflow, confidence: 1, mode: 'Deterministic' };
  if (routerAgent !== undefined) return { kind: 'classify', routerAgent, threshold: confidenceThreshold };
  return { kind: 'rejected', reason: 'NoRouterConfigured' };
}

/** The answer of a router agent. */
export interface Classification {
  readonly workflow: string;
  readonly confidence: number;
}

export type ClassifiedDecision =
  | Routed
  | { readonly kind: 'rejected'; readonly reason: RejectionReason }
  | { readonly kind: 'failed'; readonly error: string };

/** Stage 2: the gate behind the router agent. As sure as the threshold is sure enough. Pure. */
export function decideClassified({ workflow, confidence }: Classification, threshold: number): ClassifiedDecision {
  if (!(confidence >= 0 && confidence <= 1)) {
    return { kind: 'failed', error: 'the router agent gave no confidence between 0 and 1' };
  }
  if (confidence < threshold) return { kind: 'rejected', reason: 'LowConfidence' };
  return { kind: 'routed', workflow, confidence, mode: 'LlmClassified' };
}
