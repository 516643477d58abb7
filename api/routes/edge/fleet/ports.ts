import type { FleetRun } from '../../../../crds/schema/fleet-run.ts';
import type { Clock } from '../../../../lib/clock.ts';
import type { EdgeNews } from '../../../../lib/edge/index.ts';
import type { SkippedHost } from '../../../../lib/fleet/selector.ts';
import type { AuditTrail } from '../../../../lib/bus/index.ts';
import type { NewId } from '../../../../lib/ids.ts';
import type { KubeClient } from '../../../../lib/kube/index.ts';
import type { Cluster } from '../../../cluster/index.ts';
import type { NodeResult } from './schema.ts';
import type { RunNews } from './news.ts';

/** The entry of one host in the record of a run. */
export interface NodeRecord extends NodeResult {
  /** Why it is err, timed_out or cancelled. */
  readonly code?: string;
  readonly message?: string;
}

/** The record of a run beside its object. */
export interface RunRecords {
  /** Hosts of the target, as they were fixed at the start; none before. */
  targets(run: FleetRun): Promise<{
    readonly resolved: readonly { readonly node_id: string }[];
    readonly skipped: readonly SkippedHost[];
  }>;
  /** Hosts that have an outcome; of a run that has ended every host. */
  perNode(run: FleetRun): Promise<readonly NodeRecord[]>;
}

export interface FleetDeps {
  readonly kube: Pick<KubeClient, 'create' | 'get' | 'jsonPatch'>;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly audit: AuditTrail;
  readonly cluster: Pick<Cluster, 'tenants' | 'edgeHosts' | 'edgeGroups' | 'fleetRuns'>;
  readonly runNews: RunNews;
  readonly records: RunRecords;
  /** News of a run's commands from its beginning, in order, until the signal aborts. */
  readonly results: { follow(tenant: string, run: string, signal: AbortSignal): AsyncIterable<EdgeNews> };
}
