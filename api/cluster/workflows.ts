import { globalNamespace } from '../../crds/labels.ts';
import { cliToolWorkflowNamePattern, fileToolWorkflowNamePattern } from '../../crds/reserved-names.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { isUid } from '../../crds/uid.ts';
import {
  answersTo,
  cachedWorkflow,
  isVisible,
  type ListedWorkflow,
  type ObjectPlace,
  ownerKey,
  placesOf,
  placesThatHide,
  scopeOf,
  type WorkflowScope,
  type WantedWorkflow,
} from '../../lib/workflow-lookup/index.ts';
import type { Clock } from '../../lib/clock.ts';
import type { CacheReader } from '../../lib/informer/index.ts';
import { workflows as workflowKind } from '../../lib/kinds.ts';
import type { KubeClient } from '../../lib/kube/index.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import { createUnknownIds, type UnknownIds } from '../../lib/unknown-ids.ts';
import type { Caller } from '../../lib/identity/caller.ts';
import { type CatchUp, createCatchUp } from './catch-up.ts';
import type { Reserve } from './executions.ts';
import { createServerReads, lookUpBounds, type ServerReads } from '../../lib/server-reads.ts';

/** Gives a workflow of the cache in full; undefined when it is there no more. */
type WholeWorkflows = (workflow: ListedWorkflow) => Promise<Workflow | undefined>;

/** For whom a workflow is looked up. */
export type Viewer = Pick<Caller, 'subject' | 'tenant' | 'seesHelpers'>;

/** Workflows as one caller sees them: the own ones, those of the tenant, and global ones. */
export interface Workflows {
  /**
   * By name or id, in full; one that was created a moment ago is found. Undefined for what the caller cannot see. Where it is
   * large, `reserve` waits for the bytes of heap that it will take.
   */
  find(viewer: Viewer, nameOrUid: string, scope?: WorkflowScope, reserve?: Reserve): Promise<Workflow | undefined>;
  /** The same for who reads the object again anyway: of a large definition only what a list shows. */
  locate(viewer: Viewer, nameOrUid: string, scope?: WorkflowScope): Promise<ListedWorkflow | undefined>;
  /** In no particular order; of large definitions only what a list shows. */
  list(viewer: Viewer, scope?: WorkflowScope): readonly ListedWorkflow[];
  whole: WholeWorkflows;
  /** Takes the answer of a write of our own. */
  remember(workflow: Workflow): void;
  /** Resolves when the cache has let go of a workflow that was deleted, or after a second. */
  forgotten(uid: string): Promise<void>;
}

interface WorkflowsDeps {
  readonly kube: Pick<KubeClient, 'get' | 'list'>;
  readonly clock: Clock;
  readonly cache: CacheReader<ListedWorkflow, 'name' | 'formerId' | 'namespace'>;
  readonly whole: WholeWorkflows;
  /** Bytes of heap of a workflow in full, where that is much. */
  readonly weight: (workflow: ListedWorkflow) => number;
  readonly tenants: TenantDirectory;
}

/** Ids that the server did not have, and for how long that is believed. */
const unknownIds = { capacity: 10_000, lifeMs: 60_000 };
/** How often, and how many times, the cache is asked whether it has let go of a workflow. */
const forgetting = { everyMs: 10, times: 100 };

export function createWorkflows(deps: WorkflowsDeps): Workflows {
  return new CachedWorkflows(deps);
}

class CachedWorkflows implements Workflows {
  readonly whole: WholeWorkflows;
  readonly #deps: WorkflowsDeps;
  readonly #live: ServerReads<Workflow>;
  readonly #catchUp: CatchUp;
  readonly #unknown: UnknownIds;

  constructor(deps: WorkflowsDeps) {
    const kept = { ...deps, resource: workflowKind };
    this.#deps = deps;
    this.whole = deps.whole;
    this.#live = createServerReads({ ...kept, bounds: lookUpBounds });
    this.#catchUp = createCatchUp(kept);
    this.#unknown = createUnknownIds(deps.clock, unknownIds);
  }

  async find(
    viewer: Viewer,
    nameOrUid: string,
    scope?: WorkflowScope,
    reserve?: Reserve,
  ): Promise<Workflow | undefined> {
    const found = await this.locate(viewer, nameOrUid, scope);
    if (found === undefined) return undefined;
    const bytes = this.#deps.weight(found);
    if (bytes > 0) await reserve?.(bytes);
    return this.whole(found);
  }

  async locate(viewer: Viewer, nameOrUid: string, scope?: WorkflowScope): Promise<ListedWorkflow | undefined> {
    const found = await this.#locate({ ...this.#viewOf(viewer, scope), nameOrUid });
    return found !== undefined && isShown(found, viewer) ? found : undefined;
  }

  async #locate(wanted: WantedWorkflow): Promise<ListedWorkflow | undefined> {
    const { nameOrUid } = wanted;
    const known = cachedWorkflow(this.#deps.cache, wanted);
    if (known !== undefined) return (await this.#ownOver(known, wanted)) ?? known;
    return isUid(nameOrUid) ? this.#findById(wanted) : this.#findByName(wanted);
  }

  list(viewer: Viewer, scope?: WorkflowScope): readonly ListedWorkflow[] {
    const view = this.#viewOf(viewer, scope);
    return [view.namespace, globalNamespace].flatMap((namespace) =>
      this.#deps.cache
        .byIndex('namespace', namespace)
        .filter((workflow) => isVisible(workflow, view) && isShown(workflow, viewer)),
    );
  }

  remember(workflow: Workflow): void {
    this.#deps.cache.remember(workflow);
  }

  async forgotten(uid: string): Promise<void> {
    const { cache, clock } = this.#deps;
    for (let times = 0; times < forgetting.times && cache.getByUid(uid) !== undefined; times++) {
      await clock.sleep(forgetting.everyMs);
    }
  }

  #viewOf({ tenant, subject }: Viewer, scope?: WorkflowScope): Omit<WantedWorkflow, 'nameOrUid'> {
    const namespace = this.#deps.tenants.namespaceOf(tenant) ?? nowhere;
    return { namespace, user: ownerKey(subject), scope };
  }

  /** The workflow that hides a global one on the server: the cache may not show yet what was created a moment ago (ADR 0156). */
  async #ownOver(known: ListedWorkflow, wanted: WantedWorkflow): Promise<Workflow | undefined> {
    return scopeOf(known) === 'global' ? this.#firstOf(placesThatHide(known, wanted), wanted) : undefined;
  }

  #findByName(wanted: WantedWorkflow): Promise<Workflow | undefined> {
    return this.#firstOf(placesOf(wanted), wanted);
  }

  async #firstOf(places: readonly ObjectPlace[], wanted: WantedWorkflow): Promise<Workflow | undefined> {
    for (const ref of places.filter(({ namespace }) => namespace !== nowhere)) {
      const found = await this.#live(ref, wanted.namespace);
      if (found !== undefined && answersTo(found, wanted)) return found;
    }
    return undefined;
  }

  async #findById(wanted: WantedWorkflow): Promise<Workflow | undefined> {
    const { cache } = this.#deps;
    const { namespace, nameOrUid: uid } = wanted;
    const key = `${namespace}/${uid}`;
    if (this.#unknown.has(key)) return undefined;
    const probe = () => cachedWorkflow(cache, wanted);
    const places = [namespace, globalNamespace].filter((place) => place !== nowhere);
    const [found] = (
      await Promise.all(places.map((place) => this.#catchUp.find({ namespace: place, tenant: namespace }, probe)))
    ).filter(isDefined);
    if (found === undefined) this.#unknown.add(key);
    return found;
  }
}

const isDefined = <T>(value: T | undefined): value is T => value !== undefined;

/**
 * Workflows of file tools and of CLI tools are means of ours: no caller lists, reads or starts them. Admission keeps their
 * names for us; their labels are for others to write.
 */
const isShown = ({ metadata }: ListedWorkflow, { seesHelpers }: Viewer): boolean =>
  seesHelpers === true || !helperName.test(metadata.name);

const helperName = new RegExp(`${fileToolWorkflowNamePattern}|${cliToolWorkflowNamePattern}`);

/** The namespace of a tenant that has none; it can hold no object. */
const nowhere = '';
