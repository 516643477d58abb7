import type { AuditChain, GatewayEvent } from '../../lib/audit-chain/index.ts';
import { AppError } from '../../lib/errors.ts';
import type { TenantCaller } from '../identity/tenancy.ts';

/** A change that an operator made over HTTP. A tool workflow has `WorkflowRegistered`, and its deletion no event (spec 3 §6). */
type ChangeEventType = Extract<GatewayEvent['type'], `${'ApiSpec' | 'CliTool' | 'SecurityContext'}${string}`>;

/** The audit events of changes. */
export interface ChangeEvents {
  /** Before a change. @throws AppError `unavailable` while its event could not be stored. */
  require(): void;
  /** After it. The event waits for the store as an outcome does: a late one undoes nothing, so this never rejects. */
  tell(
    type: ChangeEventType,
    caller: TenantCaller,
    object: { readonly id: string; readonly name: string },
  ): Promise<void>;
}

/** Events of one kind of object for a registry. */
export interface RegisteredEvents {
  readonly events: ChangeEvents;
  readonly made: ChangeEventType;
  readonly gone: ChangeEventType;
}

export const createChangeEvents = (audit: Pick<AuditChain, 'append' | 'problem'>): ChangeEvents => ({
  require() {
    const problem = audit.problem();
    if (problem === undefined) return;
    const message = 'the audit takes no events, so nothing is changed; try again';
    throw new AppError('unavailable', message, { reason: 'AuditUnavailable', cause: new Error(problem) });
  },
  async tell(type, { tenant, subject }, { id, name }) {
    await audit.append({ type, tenant, subject, data: { id, name } }).catch(() => undefined);
  },
});
