import type { Json } from '../../crds/schema/parts.ts';

/** Where a stimulus comes from (spec 1 §2.4). `name` is what routes are looked up by (requirements AMB-042). */
export interface StimulusSource {
  readonly kind: 'Webhook' | 'HttpApi' | 'Stdin' | 'WorkflowEngineSignal';
  readonly name: string;
}

/** One outside event. Never changed once it is made. */
export interface Stimulus {
  /** A UUID. */
  readonly id: string;
  readonly source: StimulusSource;
  readonly content: Json;
  readonly idempotencyKey?: string;
  /** Request headers, names in lower case, without credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** RFC 3339 in UTC. */
  readonly receivedAt: string;
}

/** Why a stimulus does not run (spec 1 §2.4). */
export type RejectionReason = 'LowConfidence' | 'NoRouterConfigured' | 'HmacInvalid' | 'IdempotentDuplicate';

/** How sure the choice of a workflow is, from 0 to 1, and who made it; a route is always sure. */
export interface RouteChoice {
  readonly confidence: number;
  readonly mode: 'Deterministic' | 'LlmClassified';
}
