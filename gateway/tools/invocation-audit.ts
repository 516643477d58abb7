import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import { registeredNameOf } from '../../lib/api-spec/index.ts';
import type { AuditChain, GatewayEventType } from '../../lib/audit-chain/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import type { ChainObserver, ChainOutcome } from '../../lib/tool-chain/run-tool-chain.ts';
import type { GatewayCallContext, GatewayCaller } from './tool-source.ts';

/** How a credential was resolved, and for which API; no part of the credential. */
interface CredentialTarget {
  readonly strategy: string;
  readonly service: string;
  readonly server: string | undefined;
}

/**
 * The events of one invocation of a tool workflow (spec 3 §6). An event that cannot be stored ends the invocation. Events
 * between which nothing leaves the process are stored together: a step begins, and an invocation ends, when all before are
 * stored.
 */
export interface InvocationAudit extends ChainObserver {
  started(): void;
  /** Resolves when all events so far are stored. */
  stored(): Promise<void>;
  credential(type: 'CredentialExchangeCompleted' | 'CredentialExchangeFailed', target: CredentialTarget): Promise<void>;
  ended(outcome: ChainOutcome): Promise<void>;
  /** An invocation that ended by an error. Never rejects: the error is the caller's answer. */
  failed(error: unknown): Promise<void>;
}

interface About {
  readonly caller: GatewayCaller;
  readonly context: GatewayCallContext;
  readonly workflow: ToolWorkflow;
}

/** Length limit of a reason, in UTF-16 units. */
const reasonLength = 500;

export function createInvocationAudit(
  { audit, clock }: { readonly audit: AuditChain; readonly clock: Clock },
  { caller, context, workflow }: About,
): InvocationAudit {
  const { tenant, subject, executionId } = caller;
  const { invocationId, intent } = context;
  const about = { workflow_id: workflow.metadata.uid, name: registeredNameOf(workflow), execution_id: executionId };
  const { length: steps } = workflow.spec.steps;
  const from = clock.now();
  const append: Append = (type, data) =>
    audit.append({ type, tenant, subject, invocationId, data: { ...about, ...data } });
  const together = togetherBy(append, intent);
  const lasted = () => ({ duration_ms: Math.max(0, clock.now() - from) });
  const failure = (step: string | undefined, reason: string) => ({ ...failed(step, reason), ...lasted() });
  let reached: string | undefined;
  return {
    stepReached: (step) => void (reached = step),
    started: () => together.begin('WorkflowInvocationStarted'),
    stored: () => together.stored(),
    async credential(type, { strategy, service, server }) {
      together.begin(type, { strategy, target_service: service, server });
      if (type === 'CredentialExchangeFailed') await together.stored();
    },
    stepStarted(step, attempt) {
      together.begin('WorkflowStepStarted', { step, attempt });
      return together.stored();
    },
    async stepExecuted(step, { status, durationMs, attempts }) {
      together.begin('WorkflowStepExecuted', { step, http_status: status, duration_ms: durationMs, attempts });
    },
    async ended(outcome) {
      if (outcome.kind !== 'failed') together.begin('WorkflowInvocationCompleted', { step_count: steps, ...lasted() });
      else together.begin('WorkflowInvocationFailed', failure(outcome.step, outcome.reason));
      await together.stored();
    },
    failed: (error) => append('WorkflowInvocationFailed', failure(reached, reasonOf(error))).catch(() => undefined),
  };
}

const failed = (step: string | undefined, reason: string) => ({
  failed_step: step,
  reason: reason.slice(0, reasonLength).toWellFormed(),
});

type Append = (type: GatewayEventType, data: Readonly<Record<string, unknown>>) => Promise<void>;

/** Events that are stored while others begin; `stored` waits for all of them, and for the event of the intent before them. */
function togetherBy(append: Append, intent: Promise<void> = Promise.resolve()) {
  const waiting: Promise<void>[] = [intent];
  return {
    begin(type: GatewayEventType, data: Readonly<Record<string, unknown>> = {}): void {
      const storing = append(type, data);
      // Those that wait for it get the error; an invocation that has failed meanwhile does not wait.
      storing.catch(() => undefined);
      waiting.push(storing);
    },
    stored: async (): Promise<void> => void (await Promise.all(waiting.splice(0))),
  };
}

const reasonOf = (error: unknown): string => (error instanceof AppError ? error.message : 'internal error');
