import { conditionTypes, type StimulusRouterReason, stimulusRouterReasons } from '../../crds/conditions.ts';
import type { Condition } from '../../crds/schema/condition.ts';
import type { SourceClaim, StimulusRouter, StimulusRouterStatus } from '../../crds/schema/stimulus-router.ts';
import { claimantOf, claimedAt, isWebhookSource, routerOfSource } from '../../lib/stimulus/source-claims.ts';
import { nextCondition } from '../runtime/next-condition.ts';
import { problemText } from '../runtime/problem-text.ts';

/** Target of the name or uid in a route. */
export type RouteTarget = 'accepted' | 'not_ready' | 'absent';

export interface RouterFacts {
  readonly router: StimulusRouter;
  readonly isTenant: boolean;
  /** Routers of tenants that claim what it claims; it may be among them. */
  readonly rivals: readonly StimulusRouter[];
  /** The namespace that an administrator assigned each of its sources to, where one did. */
  readonly assignees: ReadonlyMap<string, string>;
  /** By the name or uid in the route. */
  readonly targets: ReadonlyMap<string, RouteTarget>;
  /** The agent that chooses where there is no route; absent where the router names none. */
  readonly agent?: RouteTarget;
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
  const takers = takersOf(facts);
  const taken = routes.flatMap(([source]) => takenProblem(source, takers.get(source)));
  const lost = routes.flatMap(([source, workflow]) => targetProblem(source, workflow, targets.get(workflow)));
  const problems = isTenant ? [...taken, ...lost, ...agentProblem(facts)] : [noTenant(router)];
  const works = routes.filter(([, workflow]) => isTenant && targets.get(workflow) === 'accepted').length;
  const claims = isTenant ? claimsOf(router, takers, now) : [];
  return {
    observedGeneration: router.metadata.generation ?? 0,
    conditions: [readyCondition(router, problems, now)],
    ...(claims.length === 0 ? {} : { claims }),
    routes: works,
  };
}

/** Why a router does not get a source that it routes. */
type Taken = { readonly by: 'assignment' | 'tenant' } | { readonly by: 'router'; readonly name: string };

/**
 * A source that webhooks can name belongs to one tenant in the whole cluster: to the one that it is assigned to, else to
 * the first that claimed it. Any other source is looked up inside a tenant alone. There two routers may still name it.
 */
function takersOf({ router, rivals, assignees }: RouterFacts): ReadonlyMap<string, Taken> {
  const { namespace, uid } = router.metadata;
  const all = [...rivals.filter(({ metadata }) => metadata.uid !== uid), router];
  const own = all.filter(({ metadata }) => metadata.namespace === namespace);
  const takenBy = (source: string): Taken | undefined => {
    if (isWebhookSource(source)) {
      const assignee = assignees.get(source);
      if (assignee !== undefined && assignee !== namespace) return { by: 'assignment' };
      if (assignee === undefined && claimantOf(source, all)?.metadata.namespace !== namespace) return { by: 'tenant' };
    }
    const owner = routerOfSource(source, own);
    return owner === undefined || owner.metadata.uid === uid ? undefined : { by: 'router', name: owner.metadata.name };
  };
  const takers = Object.keys(router.spec.routes ?? {}).flatMap((source): [string, Taken][] => {
    const taken = takenBy(source);
    return taken === undefined ? [] : [[source, taken]];
  });
  return new Map(takers);
}

/** Never names another tenant, nor its router. */
function takenProblem(source: string, taken: Taken | undefined): readonly Problem[] {
  return taken === undefined ? [] : [{ reason: 'SourceTaken', text: `source '${source}' ${takenText(taken)}` }];
}

function takenText(taken: Taken): string {
  if (taken.by === 'router') return `is routed by StimulusRouter ${taken.name}`;
  return taken.by === 'assignment' ? 'is assigned to another tenant' : 'is claimed by another tenant';
}

function targetProblem(source: string, workflow: string, target: RouteTarget = 'absent'): readonly Problem[] {
  if (target === 'accepted') return [];
  if (target === 'not_ready') {
    return [{ reason: 'WorkflowNotReady', text: `source '${source}': workflow ${workflow} is not accepted` }];
  }
  return [{ reason: 'WorkflowNotFound', text: `source '${source}': there is no workflow ${workflow}` }];
}

function agentProblem({ router, agent }: RouterFacts): readonly Problem[] {
  const { router_agent: name } = router.spec;
  if (name === undefined || agent === 'accepted') return [];
  if (agent === 'not_ready') return [{ reason: 'RouterAgentNotReady', text: `router_agent ${name} is not accepted` }];
  return [{ reason: 'RouterAgentNotFound', text: `there is no agent ${name}` }];
}

function noTenant({ metadata }: StimulusRouter): Problem {
  const { namespace } = metadata;
  const text = `namespace ${namespace} is no tenant; make it one: windlass tenant create NAME -n ${namespace}`;
  return { reason: 'NotATenant', text };
}

/** A claim keeps its time for as long as the router has the source. */
function claimsOf(router: StimulusRouter, takers: ReadonlyMap<string, Taken>, now: number): SourceClaim[] {
  return Object.keys(router.spec.routes ?? {})
    .filter((source) => isWebhookSource(source) && !takers.has(source))
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
