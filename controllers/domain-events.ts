import type { Volume } from '../crds/schema/volume.ts';
import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import type { WorkflowExecutionStatus } from '../crds/schema/workflow-execution-status.ts';
import { BoundedMap } from '../lib/bounded-map.ts';
import { type BusEvent, duplicateWindowMs, type EventSink } from '../lib/bus/index.ts';
import type { Clock } from '../lib/clock.ts';
import type { TenantDirectory } from '../lib/tenant/tenant-directory.ts';

/**
 * Tells the event bus what has happened. Callers report a state, not a change, so each reconcile may report it again:
 * an event's id derives from the fact, this process raises it once, and the bus stores it once. A fact that is older
 * than the bus remembers ids is not raised: after a restart every object is looked at again.
 */
export interface DomainEvents {
  /** The execution has ended. */
  executionEnded(execution: WorkflowExecution): void;
  /** The volume has expired, and since when (requirements ORCH-EVT-02). */
  volumeExpired(volume: Volume, since: string): void;
  /** The volume was there and is gone (requirements ORCH-EVT-03). */
  volumeDeleted(volume: Volume): void;
}

interface DomainEventsDeps {
  readonly events: EventSink;
  readonly clock: Clock;
  /** Events of a namespace that belongs to no tenant are not raised. */
  readonly tenants: Pick<TenantDirectory, 'tenantOf'>;
}

/** Facts remembered as raised; the oldest are forgotten first, and raised once more to a bus that still knows them. */
const rememberedFacts = 4_096;

export function createDomainEvents(deps: DomainEventsDeps): DomainEvents {
  const told = new BoundedMap<string, true>(rememberedFacts);
  const raise = (fact: Fact): void => {
    const tenant = deps.tenants.tenantOf(fact.namespace);
    const id = `${fact.subject}-${fact.word}`;
    const isOld = deps.clock.now() - Date.parse(fact.time) >= duplicateWindowMs;
    if (tenant === undefined || isOld || told.has(id)) return;
    told.set(id, true);
    deps.events.raise(eventOf(fact, id, tenant));
  };
  return {
    executionEnded: (execution) => {
      const fact = endFact(execution);
      if (fact !== undefined) raise(fact);
    },
    volumeExpired: (volume, since) => raise(volumeFact(volume, 'expired', since)),
    volumeDeleted: (volume) => raise(volumeFact(volume, 'deleted', new Date(deps.clock.now()).toISOString())),
  };
}

interface Fact extends Pick<BusEvent, 'topic' | 'type' | 'subject' | 'time' | 'data'> {
  /** Makes, with the subject, the event's id. */
  readonly word: string;
  readonly namespace: string;
}

const eventOf = ({ topic, type, subject, time, data }: Fact, id: string, tenant: string): BusEvent => ({
  id,
  topic,
  source: 'controllers',
  type,
  subject,
  tenant,
  time,
  data,
});

const endTypes: Readonly<Record<string, string>> = {
  completed: 'WorkflowExecutionCompleted',
  failed: 'WorkflowExecutionFailed',
  cancelled: 'WorkflowExecutionCancelled',
};

function endFact(execution: WorkflowExecution): Fact | undefined {
  const { uid = '', namespace = '' } = execution.metadata;
  const type = endTypes[execution.status?.phase ?? ''];
  const time = execution.status?.finished_at;
  if (time === undefined || type === undefined) return undefined;
  return { word: 'ended', topic: 'workflow', type, subject: uid, namespace, time, data: endData(execution) };
}

/** No input and no output: who may read events need not be allowed to read those. */
function endData({ metadata, spec, status }: WorkflowExecution): BusEvent['data'] {
  const { workflow, reason, started_at, finished_at } = status ?? ({} as Partial<WorkflowExecutionStatus>);
  return {
    execution_id: metadata.uid,
    execution: metadata.name,
    namespace: metadata.namespace,
    workflow_id: workflow?.uid,
    workflow: workflow?.name ?? spec.workflow,
    version: workflow?.version,
    parent_execution_id: spec.parent?.uid,
    reason,
    started_at,
    finished_at,
  };
}

const volumeTypes = { expired: 'VolumeExpired', deleted: 'VolumeDeleted' } as const;

function volumeFact({ metadata, spec, status }: Volume, word: keyof typeof volumeTypes, time: string): Fact {
  const { uid = '', name, namespace = '' } = metadata;
  const data = {
    volume_id: uid,
    volume: name,
    namespace,
    storage_class: spec.storage_class,
    claim: status?.claim_name,
    // The claim of somebody else outlives the volume that names it.
    claim_kept: spec.claim_name !== undefined,
    expires_at: spec.expires_at,
  };
  return { word, topic: 'volume', type: volumeTypes[word], subject: uid, namespace, time, data };
}
