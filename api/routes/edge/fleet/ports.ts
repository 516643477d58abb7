import type { FleetRun } from '../../../../crds/schema/fleet-run.ts';
import type { Clock } from '../../../../lib/clock.ts';
import type { FollowedNews } from '../../../../lib/edge/index.ts';
import type { NodeRecord } from '../../../../lib/fleet/node-record.ts';
import type { SkippedHost } from '../../../../lib/fleet/selector.ts';
import type { AuditTrail } from '../../../../lib/bus/index.ts';
import type { NewId } from '../../../../lib/ids.ts';
import type { KubeClient } from '../../../../lib/kube/index.ts';
import type { FleetCapable } from '../../../../lib/tools/fleet-capable.ts';
import type { Cluster } from '../../../cluster/index.ts';
import type { RecordPages } from '../../../../lib/fleet/run-record.ts';
import type { RunNews } from './news.ts';

export type PageQuery<T extends object> = Omit<RecordPages<T>, 'inTurn'>;

/** The record of a run beside its object. */
export interface RunRecords {
  /** Hosts of the target, as they were fixed at the start; none before. */
  targets(run: FleetRun): Promise<{
    readonly resolved: readonly { readonly node_id: string }[];
    readonly skipped: readonly SkippedHost[];
  }>;
  /** Outcomes of a run under way that its record lacks now; empty while its controllers, or the bus, are away. */
  open(uid: string): Promise<readonly NodeRecord[]>;
  /**
   * Hosts that have an outcome, in the order in which they got it, with the open ones; of a run that has ended every host.
   * Undefined where the record of a run that has ended is lost.
   */
  perNode(run: FleetRun, open?: readonly NodeRecord[]): Promise<readonly NodeRecord[] | undefined>;
  /** The same, part by part, each as it is asked for. The record is whole when this resolves. */
  parts(run: FleetRun, open: readonly NodeRecord[]): Promise<AsyncIterable<readonly NodeRecord[]> | undefined>;
  /**
   * The results of `take` for each host's stored outcome, in pages of so many bytes as JSON, in the order of `perNode`. A record that is
   * lost ends the pages of a run that has ended.
   */
  pages<T extends object>(run: FleetRun, query: PageQuery<T>): AsyncIterable<readonly T[]>;
}

export interface FleetDeps {
  readonly kube: Pick<KubeClient, 'create' | 'get' | 'jsonPatch'>;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly audit: AuditTrail;
  readonly cluster: Pick<Cluster, 'tenants' | 'edgeHosts' | 'edgeGroups' | 'fleetRuns'>;
  readonly fleetCapable: FleetCapable;
  readonly runNews: RunNews;
  readonly records: RunRecords;
  /** News of a run's commands from its beginning, in order, until the signal aborts. */
  readonly results: { follow(tenant: string, run: string, signal: AbortSignal): AsyncIterable<FollowedNews> };
}
