import { conditionTypes, type StimulusRouterReason, stimulusRouterReasons } from '../../crds/conditions.ts';
import type { Condition } from '../../crds/schema/condition.ts';
import type { SourceClaim, StimulusRouter, StimulusRouterStatus } from '../../crds/schema/stimulus-router.ts';
import { claimedAt, isWebhookSource, ownerOf } from '../../lib/stimulus/claims.ts';
import { nextCondition } from '../runtime/next-condition.ts';
import { problemText } from '../runtime/problem-text.ts';

/** What the name or uid in a route leads to. */
export type RouteTarget = 'accepted' | 'not_ready' | 'absent';

export interface RouterFacts {
  readonly router: StimulusRouter;
  readonly isTenant: boolean;
  /** Routers of tenants that route one of its sources; it may be among them. */
  readonly rivals: readonly StimulusRouter[];
  /** By the name or uid that stands in the route. */
  readonly targets: ReadonlyMap<string, RouteTarget>;
}

interface Problem {
  readonly reason: StimulusRouterReason;
  readonly text: string;
}

/** Problems that the condition's message names; the rest are counted. */
const problemsShown = 3;

/** Which sources a router gets, and what is wrong with its routes; the time is in milliseconds since the epoch. Pure. */
export function decideRouter(facts: RouterFacts, now: number): StimulusRouterStatus {
  const { router, isTenant, targets } = facts;
  const routes = Object.entries(router.spec.routes ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const taken = routes.flatMap(([source]) => takenProblem(facts, source));
  const lost = routes.flatMap(([source, workflow]) => targetProblem(source, workflow, targets.get(workflow)));
  const problems = isTenant ? [...taken, ...lost, ...agentProblem(router)] : [noTenant(router)];
  const works = routes.filter(([, workflow]) => isTenant && targets.get(workflow) === 'accepted').length;
  const claims = isTenant ? claimsOf(facts, now) : [];
  return {
    observedGeneration: router.metadata.generation ?? 0,
    conditions: [readyCondition(router, problems, now)],
    ...(claims.length === 0 ? {} : { claims }),
    routes: works,
  };
}

/**
 * Of a source that webhooks can name there is one owner in the whole cluster; any other is looked up inside a tenant
 * alone, where two routers may still name it.
 */
function owner({ router, rivals }: RouterFacts, source: string): StimulusRouter | undefined {
  const others = rivals.filter(({ metadata }) => metadata.uid !== router.metadata.uid);
  const { namespace } = router.metadata;
  const all = isWebhookSource(source) ? others : others.filter(({ metadata }) => metadata.namespace === namespace);
  return ownerOf(source, [...all, router]);
}

/** Never names another tenant, nor its router. */
function takenProblem(facts: RouterFacts, source: string): readonly Problem[] {
  const { router } = facts;
  const taker = owner(facts, source);
  if (taker === undefined || taker.metadata.uid === router.metadata.uid) return [];
  const near = taker.metadata.namespace === router.metadata.namespace;
  const text = near
    ? `source '${source}' is routed by StimulusRouter ${taker.metadata.name}`
    : `source '${source}' is claimed by another tenant`;
  return [{ reason: 'SourceTaken', text }];
}

function targetProblem(source: string, workflow: string, target: RouteTarget = 'absent'): readonly Problem[] {
  if (target === 'accepted') return [];
  if (target === 'not_ready') {
    return [{ reason: 'WorkflowNotReady', text: `source '${source}': workflow ${workflow} is not accepted` }];
  }
  return [{ reason: 'WorkflowNotFound', text: `source '${source}': there is no workflow ${workflow}` }];
}

function agentProblem({ spec }: StimulusRouter): readonly Problem[] {
  const { router_agent: agent } = spec;
  return agent === undefined
    ? []
    : [{ reason: 'UnsupportedRouterAgent', text: `router_agent ${agent} cannot run in this version` }];
}

function noTenant({ metadata }: StimulusRouter): Problem {
  const { namespace } = metadata;
  const text = `namespace ${namespace} is no tenant; make it one: windlass tenant create NAME -n ${namespace}`;
  return { reason: 'NotATenant', text };
}

/** A claim keeps its time for as long as the router has the source. */
function claimsOf(facts: RouterFacts, now: number): SourceClaim[] {
  const { router } = facts;
  return Object.keys(router.spec.routes ?? {})
    .filter((source) => isWebhookSource(source) && owner(facts, source)?.metadata.uid === router.metadata.uid)
    .toSorted()
    .map((source) => ({ source, since: claimedAt(router, source) ?? new Date(now).toISOString() }));
}

const order = Object.keys(stimulusRouterReasons);

function readyCondition(router: StimulusRouter, found: readonly Problem[], now: number): Condition {
  const problems = found.toSorted((a, b) => order.indexOf(a.reason) - order.indexOf(b.reason));
  const verdict = {
    type: conditionTypes.ready,
    status: problems.length === 0 ? 'True' : 'False',
    reason: problems[0]?.reason ?? 'Accepted',
    message: messageOf(router, problems),
  } as const;
  return nextCondition(router, verdict, now);
}

function messageOf({ spec }: StimulusRouter, problems: readonly Problem[]): string {
  const count = Object.keys(spec.routes ?? {}).length;
  if (problems.length === 0) return `${count} ${count === 1 ? 'source is' : 'sources are'} routed`;
  return problemText(
    problems.map(({ text }) => text),
    problemsShown,
  );
}
