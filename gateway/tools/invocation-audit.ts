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

/** The events of one invocation of a tool workflow (spec 3 §6). An event that cannot be stored ends the invocation. */
export interface InvocationAudit extends ChainObserver {
  started(): Promise<void>;
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
  const { invocationId } = context;
  const about = { workflow_id: workflow.metadata.uid, name: registeredNameOf(workflow), execution_id: executionId };
  const from = clock.now();
  const append = (type: GatewayEventType, data: Readonly<Record<string, unknown>>): Promise<void> =>
    audit.append({ type, tenant, subject, invocationId, data: { ...about, ...data } });
  const lasted = () => ({ duration_ms: Math.max(0, clock.now() - from) });
  const fail = (step: string | undefined, reason: string): Promise<void> => {
    const cut = reason.slice(0, reasonLength).toWellFormed();
    return append('WorkflowInvocationFailed', { failed_step: step, reason: cut, ...lasted() });
  };
  let reached: string | undefined;
  return {
    stepReached: (step) => void (reached = step),
    started: () => append('WorkflowInvocationStarted', {}),
    credential: (type, { strategy, service, server }) => append(type, { strategy, target_service: service, server }),
    stepStarted: (step, attempt) => append('WorkflowStepStarted', { step, attempt }),
    stepExecuted: (step, { status, durationMs, attempts }) =>
      append('WorkflowStepExecuted', { step, http_status: status, duration_ms: durationMs, attempts }),
    async ended(outcome) {
      if (outcome.kind === 'failed') return fail(outcome.step, outcome.reason);
      return append('WorkflowInvocationCompleted', { step_count: workflow.spec.steps.length, ...lasted() });
    },
    failed: (error) => fail(reached, reasonOf(error)).catch(() => undefined),
  };
}

const reasonOf = (error: unknown): string => (error instanceof AppError ? error.message : 'internal error');
