import type { StimulusRouter } from '../../crds/schema/stimulus-router.ts';
import { type Delivery, type EventBus, type KeyValueBucket, ShareUsedError } from '../../lib/bus/index.ts';
import type { CacheReader } from '../../lib/informer/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { isJsonObject } from '../../lib/json-object.ts';
import { stimulusRouters } from '../../lib/kinds.ts';
import { isInvalid, type KubeClient } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import { ownMember } from '../../lib/own-member.ts';
import { byAge } from '../../lib/stimulus/source-claims.ts';
import { patternDiscovered } from '../../lib/stimulus/stimulus-events.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';

/** The latest choices of router agents for a source. The field names are those of the stored JSON. */
export interface Pattern {
  readonly workflow_id: string;
  /** Equal choices in a row. */
  readonly count: number;
  /** Places of the last events that were counted: one that comes again is not counted again. */
  readonly counted: readonly number[];
}

/** A choice of a router agent, as the event says it. */
interface PatternChoice {
  readonly stimulusId: string;
  readonly source: string;
  readonly workflowId: string;
  readonly sequence: number;
}

/** So many equal choices in a row are a pattern where the router does not say otherwise. */
const patternAfter = 20;

/** The pattern with one more choice; undefined where the choice was counted before. Pure. */
export function withChoice(known: Pattern | undefined, { workflowId, sequence }: PatternChoice): Pattern | undefined {
  const counted = known?.counted ?? [];
  if (counted.includes(sequence)) return undefined;
  const count = known?.workflow_id === workflowId ? known.count + 1 : 1;
  return { workflow_id: workflowId, count, counted: [...counted.slice(1 - countedKept), sequence] };
}

/** More than replicas could have in hand at a time. */
const countedKept = 32;

interface PatternsDeps {
  readonly clock: Clock;
  readonly bus: EventBus;
  readonly kube: Pick<KubeClient, 'mergePatch'>;
  readonly logger: Logger;
  readonly tenants: Pick<TenantDirectory, 'namespaceOf'>;
  readonly routers: Pick<CacheReader<StimulusRouter, 'namespace'>, 'byIndex'>;
}

/** Patterns by tenant and source. */
export const patternBucket = { name: 'patterns', ttlMs: 30 * 24 * 3_600_000, holds: 'patterns of stimuli' };

/**
 * Follows the events of stimuli, and finds sources for which router agents choose one workflow again and again
 * (spec 1 §6; requirements ROUTE-23, ORCH-EVT-04). Replicas share the events; the counts are in the bus.
 */
export function followPatterns(deps: PatternsDeps) {
  const bucket = deps.bus.bucket<Pattern>(patternBucket);
  return deps.bus.subscribe(
    // One at a time, so that choices are counted about in the order in which they were made.
    { name: 'patterns', source: 'events', key: 'stimulus', from: 'now', concurrency: 1 },
    async (delivery) => {
      const choice = readChoice(delivery);
      if (choice !== undefined) await count(deps, bucket, { ...choice, tenant: delivery.tenant });
    },
  );
}

/** The choice of a router agent; undefined for every other event. */
function readChoice({ body, sequence }: Pick<Delivery, 'body' | 'sequence'>): PatternChoice | undefined {
  const event: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
  if (!isJsonObject(event) || event['type'] !== 'StimulusClassified' || !isJsonObject(event['data'])) return undefined;
  const { mode, source, workflow_id: workflowId, stimulus_id: stimulusId } = event['data'];
  if (mode !== 'LlmClassified') return undefined;
  if (typeof source !== 'string' || typeof workflowId !== 'string' || typeof stimulusId !== 'string') return undefined;
  return { stimulusId, source, workflowId, sequence };
}

interface TenantChoice extends PatternChoice {
  readonly tenant: string;
}

export const patternKey = (tenant: string, source: string): string => JSON.stringify([tenant, source]);

/** Replicas may count choices of one source at a time: the one that is later reads again. */
async function count(deps: PatternsDeps, bucket: KeyValueBucket<Pattern>, choice: TenantChoice): Promise<void> {
  const { tenant, source } = choice;
  const key = patternKey(tenant, source);
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const stored = await bucket.get(key);
    const pattern = withChoice(stored?.value, choice);
    if (pattern === undefined) return;
    const written = await write(bucket, { key, tenant, pattern, revision: stored?.revision });
    if (written === undefined) continue;
    if (written !== 'full') await tellOf(deps, choice, pattern);
    return;
  }
  throw new AppError('unavailable', `the pattern of source ${source} is being counted by others`);
}

const attempts = 20;

interface Write {
  readonly key: string;
  readonly tenant: string;
  readonly pattern: Pattern;
  readonly revision: number | undefined;
}

/** Undefined where another replica wrote in between; `full` where the tenant has too many sources to learn from. */
async function write(
  bucket: KeyValueBucket<Pattern>,
  { key, tenant, pattern, revision }: Write,
): Promise<number | 'full' | undefined> {
  try {
    return await (revision === undefined ? bucket.create(key, pattern, tenant) : bucket.update(key, pattern, revision));
  } catch (error) {
    if (error instanceof ShareUsedError) return 'full';
    throw error;
  }
}

async function tellOf(deps: PatternsDeps, choice: TenantChoice, { count: times }: Pattern): Promise<void> {
  const { tenant, source, workflowId, stimulusId } = choice;
  const router = routerOf(deps, tenant);
  const promoteAfter = router?.spec.promote_after;
  // Again at each multiple: a replica may die between the count and this.
  if (times % (promoteAfter ?? patternAfter) !== 0) return;
  const isPromoted = router !== undefined && promoteAfter !== undefined && (await promote(deps, router, choice));
  const data = { tenant, source, workflow_id: workflowId, count: times, promoted: isPromoted };
  deps.logger.info(data, 'PatternDiscovered');
  const occasion = { stimulusId, tenant, time: new Date(deps.clock.now()).toISOString() };
  deps.bus.raise(patternDiscovered(occasion, { source, workflowId, count: times, isPromoted }));
}

/** The router whose agent was asked. */
function routerOf({ tenants, routers }: PatternsDeps, tenant: string): StimulusRouter | undefined {
  const namespace = tenants.namespaceOf(tenant);
  const own = namespace === undefined ? [] : routers.byIndex('namespace', namespace);
  return byAge(own).find(({ spec }) => spec.router_agent !== undefined);
}

/** Makes the pattern a route, unless a person has written one; a router without room for it stays as it is. */
async function promote(
  { kube }: PatternsDeps,
  router: StimulusRouter,
  { source, workflowId }: PatternChoice,
): Promise<boolean> {
  if (ownMember(router.spec.routes, source) !== undefined) return false;
  const { name, namespace = '', resourceVersion } = router.metadata;
  const patch = { metadata: { resourceVersion }, spec: { routes: { [source]: workflowId } } };
  try {
    await kube.mergePatch(stimulusRouters, { name, namespace }, patch);
    return true;
  } catch (error) {
    if (isInvalid(error)) return false;
    throw error;
  }
}
