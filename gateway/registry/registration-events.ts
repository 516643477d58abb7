import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import { globalNamespace } from '../../crds/labels.ts';
import { readyOf } from '../../crds/ready.ts';
import { registeredNameOf } from '../../lib/api-spec/index.ts';
import { type AuditChain, type AuditRecord, createAuditRecord } from '../../lib/audit-chain/index.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import {
  createAnnouncedGenerations,
  type AnnouncedGenerations,
  type AnnouncementClaim,
} from './announced-generations.ts';

/** The events `WorkflowRegistered` of tool workflows: one for each generation, however it was registered. */
export interface RegistrationEvents {
  /**
   * Tells of a workflow that an operator has registered over HTTP.
   * @throws AppError `unavailable` where the event cannot be stored.
   */
  registered(workflow: ToolWorkflow, by: Actor): Promise<void>;
  /** Tells of those that others have written to the cluster, until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

interface Actor {
  readonly tenant: string | undefined;
  readonly subject: string;
}

interface RegistrationEventsDeps {
  readonly audit: Pick<AuditChain, 'append'>;
  readonly bus: Pick<EventBus, 'bucket' | 'watch' | 'stream'>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
  readonly tenants: Pick<TenantDirectory, 'tenantOf'>;
  readonly workflows: { values(): Iterable<ToolWorkflow> };
}

/** Subject of what was written to the cluster: the API server knows who it was, and its own audit says so. */
const writer = 'kubernetes';

const lookEveryMs = 5_000;
/** The replica that a workflow was registered at tells of it first, and by the name of its operator. */
const patienceMs = 10_000;

export function createRegistrationEvents(deps: RegistrationEventsDeps): RegistrationEvents {
  const announced = createAnnouncedGenerations(deps);
  const record = createAuditRecord(deps);
  return {
    async registered(workflow, by) {
      const generation = generationOf(workflow, by.tenant);
      // A tenant without room for one more key registers all the same: no replica tells of it again.
      const claim = await announced.take(generation).catch(() => ({ ...generation, revision: 0 }));
      if (claim !== undefined) await announce(deps, { announced, record }, { workflow, by, claim });
    },
    async run(signal) {
      await Promise.all([announced.run(signal), lookOften(deps, { announced, record }, signal)]);
    },
  };
}

interface Memory {
  readonly announced: AnnouncedGenerations;
  readonly record: AuditRecord;
}

async function lookOften(deps: RegistrationEventsDeps, memory: Memory, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await deps.clock.sleep(lookEveryMs, signal);
    await look(deps, memory, signal).catch((error: unknown) => {
      deps.logger.warn({ problem: messageOf(error) }, 'registrations of tool workflows are not announced');
    });
  }
}

async function look(deps: RegistrationEventsDeps, memory: Memory, signal: AbortSignal): Promise<void> {
  let failed: unknown;
  for (const workflow of deps.workflows.values()) {
    if (signal.aborted) return;
    // One tenant may have no room for keys; those of the others are announced.
    await lookAt(deps, memory, workflow).catch((error: unknown) => (failed ??= error));
  }
  if (failed !== undefined) throw failed;
}

async function lookAt(deps: RegistrationEventsDeps, memory: Memory, workflow: ToolWorkflow): Promise<void> {
  const by = writerOf(deps, workflow);
  if (by === undefined || memory.announced.isKnown(generationOf(workflow, by.tenant))) return;
  const claim = await memory.announced.take(generationOf(workflow, by.tenant));
  if (claim !== undefined) await announce(deps, memory, { workflow, by, claim });
}

/** Undefined for one that is not registered: agents cannot call it, or it is too new. */
function writerOf({ clock, tenants }: RegistrationEventsDeps, workflow: ToolWorkflow): Actor | undefined {
  const { namespace = '', creationTimestamp = '' } = workflow.metadata;
  if (readyOf(workflow)?.status !== 'True' || Date.parse(creationTimestamp) + patienceMs > clock.now())
    return undefined;
  const tenant = tenants.tenantOf(namespace);
  return tenant === undefined && namespace !== globalNamespace ? undefined : { tenant, subject: writer };
}

const generationOf = ({ metadata }: ToolWorkflow, tenant: string | undefined) => ({
  uid: metadata.uid ?? '',
  generation: metadata.generation ?? 1,
  tenant: tenant ?? globalNamespace,
});

interface Registration {
  readonly workflow: ToolWorkflow;
  readonly by: Actor;
  readonly claim: AnnouncementClaim;
}

/** An attempt before may have stored the event and ended before it could say so. */
async function announce(
  deps: RegistrationEventsDeps,
  { announced, record }: Memory,
  registration: Registration,
): Promise<void> {
  const { claim } = registration;
  if (claim.since === undefined || !(await isStored(record, registration, claim.since)))
    await append(deps, registration);
  // A later attempt finds the event.
  await announced.announced(claim).catch(() => undefined);
}

async function append({ audit }: RegistrationEventsDeps, { workflow, by, claim }: Registration): Promise<void> {
  const { uid, generation } = claim;
  const step_count = workflow.spec.steps.length;
  const data = { workflow_id: uid, name: registeredNameOf(workflow), step_count, generation };
  await audit.append({ type: 'WorkflowRegistered', ...by, data });
}

async function isStored(record: AuditRecord, { by, claim }: Registration, since: number): Promise<boolean> {
  const query = { tenant: by.tenant, types: ['WorkflowRegistered'], from: since, limit: 100 };
  const reader = { of: by.tenant };
  let page = await record.page(query, reader);
  for (;;) {
    const isOfTurn = page.events.some(
      ({ data }) => data['workflow_id'] === claim.uid && data['generation'] === claim.generation,
    );
    if (isOfTurn || !page.hasMore) return isOfTurn;
    page = await record.page({ ...query, cursor: page.end }, reader);
  }
}
