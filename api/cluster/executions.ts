import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { isUid } from '../../crds/uid.ts';
import type { Clock } from '../../lib/clock.ts';
import type { CacheReader } from '../../lib/informer/index.ts';
import { workflowExecutions } from '../../lib/kinds.ts';
import { isObjectName, type KubeClient } from '../../lib/kube/index.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import { createUnknownIds, type UnknownIds } from '../../lib/unknown-ids.ts';
import { type CatchUp, createCatchUp } from './catch-up.ts';
import { createServerReads, lookUpBounds, type ServerReads } from '../../lib/server-reads.ts';

/** Gives an execution of the cache in full; undefined when it is there no more. */
type WholeExecutions = (execution: WorkflowExecution) => Promise<WorkflowExecution | undefined>;

/** Waits until so many bytes of memory may be taken. */
export type Reserve = (bytes: number) => Promise<void>;

/** Executions as one tenant sees them. */
export interface Executions {
  /**
   * By id or name, in full; one that was created a moment ago is found. Undefined for what is none of the tenant. Where it
   * is large, `reserve` waits for the bytes of heap that it will take.
   */
  find(tenant: string, nameOrUid: string, reserve?: Reserve): Promise<WorkflowExecution | undefined>;
  /** The same, of which there may be no more than what a list shows. */
  locate(tenant: string, nameOrUid: string): Promise<WorkflowExecution | undefined>;
  /** In no particular order; of each only what a list shows. */
  list(tenant: string): readonly WorkflowExecution[];
  whole: WholeExecutions;
  /** The version of an execution of the tenant that the cache has. A reader of an earlier one finds nothing new meanwhile. */
  versionOf(tenant: string, uid: string): string | undefined;
  /** The execution, in full, that asks for the decision of that id (`approvalId`), or that was given it last. */
  asking(tenant: string, approvalId: string): Promise<WorkflowExecution | undefined>;
  /** Every execution that waits in a Human state; of each only what a list shows. */
  listAsking(tenant: string): readonly WorkflowExecution[];
  /** Takes the answer of a write of our own. */
  remember(execution: WorkflowExecution): void;
}

interface ExecutionsDeps {
  readonly kube: Pick<KubeClient, 'get' | 'list'>;
  readonly clock: Clock;
  readonly cache: CacheReader<WorkflowExecution, 'namespace' | 'approval' | 'asking'>;
  readonly whole: WholeExecutions;
  /** Bytes of heap of an execution in full, where that is much. */
  readonly weight: (execution: WorkflowExecution) => number;
  readonly tenants: TenantDirectory;
}

/** Ids that the server did not have, and for how long that is believed. */
const unknownIds = { capacity: 10_000, lifeMs: 60_000 };
/** A dropped search may be repeated later; this limits only a flood. */
const unknownApprovals = { capacity: 10_000, lifeMs: 1_000 };

export function createExecutions(deps: ExecutionsDeps): Executions {
  return new CachedExecutions(deps);
}

class CachedExecutions implements Executions {
  readonly whole: WholeExecutions;
  readonly #deps: ExecutionsDeps;
  readonly #live: ServerReads<WorkflowExecution>;
  readonly #catchUp: CatchUp;
  readonly #unknown: UnknownIds;
  readonly #notAsked: UnknownIds;

  constructor(deps: ExecutionsDeps) {
    const kept = { ...deps, resource: workflowExecutions };
    this.#deps = deps;
    this.whole = deps.whole;
    this.#live = createServerReads({ ...kept, bounds: lookUpBounds });
    this.#catchUp = createCatchUp(kept);
    this.#unknown = createUnknownIds(deps.clock, unknownIds);
    this.#notAsked = createUnknownIds(deps.clock, unknownApprovals);
  }

  async find(tenant: string, nameOrUid: string, reserve?: Reserve): Promise<WorkflowExecution | undefined> {
    const found = await this.locate(tenant, nameOrUid);
    return found && this.#read(found, reserve);
  }

  async locate(tenant: string, nameOrUid: string): Promise<WorkflowExecution | undefined> {
    const namespace = this.#deps.tenants.namespaceOf(tenant);
    if (namespace === undefined) return undefined;
    const key = `${namespace}/${nameOrUid}`;
    if (isUid(nameOrUid)) {
      const { cache } = this.#deps;
      // An id never means a name: a stranger could give an execution the id of a deleted one, which the archive keeps.
      return this.#search(namespace, { key, unknown: this.#unknown }, () => [cache.getByUid(nameOrUid)]);
    }
    if (!isObjectName(nameOrUid)) return undefined;
    return this.#deps.cache.get(key) ?? this.#live({ namespace, name: nameOrUid }, namespace);
  }

  list(tenant: string): readonly WorkflowExecution[] {
    return this.#deps.cache.byIndex('namespace', this.#deps.tenants.namespaceOf(tenant) ?? '');
  }

  versionOf(tenant: string, uid: string): string | undefined {
    const known = this.#deps.cache.getByUid(uid);
    const namespace = this.#deps.tenants.namespaceOf(tenant);
    return known?.metadata.namespace === namespace ? known?.metadata.resourceVersion : undefined;
  }

  async asking(tenant: string, approvalId: string): Promise<WorkflowExecution | undefined> {
    const namespace = this.#deps.tenants.namespaceOf(tenant);
    if (namespace === undefined) return undefined;
    const known = { key: `${namespace}/${approvalId}`, unknown: this.#notAsked };
    const found = await this.#search(namespace, known, () => this.#deps.cache.byIndex('approval', approvalId));
    return found && this.whole(found);
  }

  listAsking(tenant: string): readonly WorkflowExecution[] {
    return this.#deps.cache.byIndex('asking', this.#deps.tenants.namespaceOf(tenant) ?? '');
  }

  remember(execution: WorkflowExecution): void {
    this.#deps.cache.remember(execution);
  }

  async #read(known: WorkflowExecution, reserve?: Reserve): Promise<WorkflowExecution | undefined> {
    const bytes = this.#deps.weight(known);
    if (bytes > 0) await reserve?.(bytes);
    return this.whole(known);
  }

  /** The search takes as long for an object of another namespace as for one that does not exist. */
  async #search(
    namespace: string,
    { key, unknown }: Search,
    candidates: () => readonly (WorkflowExecution | undefined)[],
  ): Promise<WorkflowExecution | undefined> {
    const probe = (): WorkflowExecution | undefined =>
      candidates().find((execution) => execution?.metadata.namespace === namespace);
    const known = probe();
    if (known !== undefined) return known;
    if (unknown.has(key)) return undefined;
    const found = await this.#catchUp.find({ namespace, tenant: namespace }, probe);
    if (found === undefined) unknown.add(key);
    return found;
  }
}

/** How an execution is looked for. */
interface Search {
  readonly key: string;
  readonly unknown: UnknownIds;
}
