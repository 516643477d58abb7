import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import { registeredNameOf } from '../../lib/api-spec/index.ts';
import type { AuditChain, GatewayEventType } from '../../lib/audit-chain/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { AppError, hasReason } from '../../lib/errors.ts';
import type { ChainObserver, ChainOutcome } from '../../lib/tool-chain/run-tool-chain.ts';
import type { GatewayCallContext, GatewayCaller } from './tool-source.ts';

/** How a credential was resolved, and for which API; no part of the credential. */
interface CredentialTarget {
  readonly strategy: string;
  readonly service: string;
  readonly server: string | undefined;
}

/**
 * The events of one invocation of a tool workflow (spec 3 §6). An intent that cannot be stored ends the invocation. Events
 * between which nothing leaves the process are stored together: a step begins when all before are stored. The end of an
 * invocation that has sent something waits for its events as long as the audit does, and counts without them.
 */
export interface InvocationAudit extends ChainObserver {
  /** Steps of which a request may have left, in their order. */
  readonly sent: readonly string[];
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

export function createInvocationAudit(deps: AuditDeps, about: About): InvocationAudit {
  const writer = writerOf(deps, about);
  const { together } = writer;
  const progress: Progress = { sent: new Set() };
  return {
    get sent() {
      return [...progress.sent];
    },
    stepReached: (step) => void (progress.reached = step),
    started: () => void (progress.begun = together.begin('WorkflowInvocationStarted')),
    stored: () => together.stored(),
    async credential(type, { strategy, service, server }) {
      void together.begin(type, { strategy, target_service: service, server });
      if (type === 'CredentialExchangeFailed') await together.stored();
    },
    async stepStarted(step, attempt) {
      void together.begin('WorkflowStepStarted', { step, attempt });
      await together.stored();
      progress.sent.add(step);
    },
    async stepExecuted(step, { status, durationMs, attempts }) {
      void together.begin('WorkflowStepExecuted', { step, http_status: status, duration_ms: durationMs, attempts });
    },
    ...endsOf(writer, progress, about.workflow.spec.steps.length),
  };
}

interface AuditDeps {
  readonly audit: AuditChain;
  readonly clock: Clock;
}

/** How far an invocation has come. */
interface Progress {
  readonly sent: Set<string>;
  reached?: string;
  /** Whether its first event was stored in time. */
  begun?: Promise<boolean>;
}

type Writer = ReturnType<typeof writerOf>;

function writerOf({ audit, clock }: AuditDeps, { caller, context, workflow }: About) {
  const { tenant, subject, executionId } = caller;
  const { invocationId, intent } = context;
  const about = { workflow_id: workflow.metadata.uid, name: registeredNameOf(workflow), execution_id: executionId };
  const from = clock.now();
  const append: Append = (type, data) =>
    audit.append({ type, tenant, subject, invocationId, data: { ...about, ...data } });
  const lasted = () => ({ duration_ms: Math.max(0, clock.now() - from) });
  return { append, lasted, together: togetherBy(append, intent) };
}

function endsOf(
  { append, lasted, together }: Writer,
  progress: Progress,
  steps: number,
): Pick<InvocationAudit, 'ended' | 'failed'> {
  const failure = (step: string | undefined, reason: string) => ({ ...failed(step, reason), ...lasted() });
  return {
    async ended(outcome) {
      if (outcome.kind === 'failed')
        void together.begin('WorkflowInvocationFailed', failure(outcome.step, outcome.reason));
      else void together.begin('WorkflowInvocationCompleted', { step_count: steps, ...lasted() });
      // The outcome is known: its caller would do it again for an answer that is lost. The audit keeps outcomes that are late.
      await together.stored().catch((error: unknown) => {
        if (progress.sent.size === 0) throw error;
      });
    },
    async failed(error) {
      // A call that is refused for want of its audit leaves no event to wait for the bus: outages have many of them.
      if (isUnaudited(error) && (await progress.begun) !== true) return;
      await append('WorkflowInvocationFailed', failure(progress.reached, reasonOf(error))).catch(() => undefined);
    },
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
    /** Resolves to whether it was stored in time. */
    begin(type: GatewayEventType, data: Readonly<Record<string, unknown>> = {}): Promise<boolean> {
      const storing = append(type, data);
      waiting.push(storing);
      // Those that wait for it get the error; an invocation that has failed meanwhile does not wait.
      return storing.then(
        () => true,
        () => false,
      );
    },
    stored: async (): Promise<void> => void (await Promise.all(waiting.splice(0))),
  };
}

const reasonOf = (error: unknown): string => (error instanceof AppError ? error.message : 'internal error');

const isUnaudited = (error: unknown): boolean => hasReason(error, 'AuditUnavailable');
