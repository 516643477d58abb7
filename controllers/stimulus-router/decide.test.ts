import { describe, expect, it } from 'vitest';
import type { StimulusRouter, StimulusRouterSpec, StimulusRouterStatus } from '../../crds/schema/stimulus-router.ts';
import { decideRouter, type RouterFacts, type RouteTarget } from './decide.ts';

const now = Date.parse('2026-01-02T03:04:05Z');
const today = '2026-01-02T03:04:05.000Z';

interface RouterFields {
  readonly name?: string;
  readonly namespace?: string;
  readonly created?: string;
  readonly spec?: StimulusRouterSpec;
  readonly status?: StimulusRouterStatus;
}

const aRouter = ({ name = 'events', namespace = 'tenant-a', ...fields }: RouterFields = {}): StimulusRouter => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'StimulusRouter',
  metadata: {
    name,
    namespace,
    uid: `${namespace}/${name}`,
    generation: 3,
    creationTimestamp: fields.created ?? '2026-01-01T00:00:00Z',
  },
  spec: fields.spec ?? { routes: { github: 'build' } },
  ...(fields.status === undefined ? {} : { status: fields.status }),
});

type FactFields = Partial<Omit<RouterFacts, 'targets'>> & { readonly targets?: Record<string, RouteTarget> };

const facts = (fields: FactFields = {}): RouterFacts => ({
  router: aRouter(),
  isTenant: true,
  rivals: [],
  assignees: new Map(),
  ...fields,
  targets: new Map<string, RouteTarget>(Object.entries(fields.targets ?? { build: 'accepted' })),
});

const older = aRouter({ namespace: 'tenant-b', created: '2025-01-01T00:00:00Z' });
const claimed = (since: string): StimulusRouterStatus => ({ claims: [{ source: 'github', since }] });

interface Want {
  readonly reason: string;
  readonly claims?: readonly string[];
  readonly routes: number;
}

const assigned = (namespace: string) => new Map([['github', namespace]]);

const rows: [title: string, facts: RouterFacts, want: Want][] = [
  [
    'AMB-044 does not get a source of which another tenant claimed the other spelling',
    facts({
      router: aRouter({ spec: { routes: { 'my.ci': 'build' } } }),
      rivals: [
        aRouter({ namespace: 'tenant-b', created: '2025-01-01T00:00:00Z', spec: { routes: { 'my-ci': 'build' } } }),
      ],
    }),
    { reason: 'SourceTaken', routes: 1 },
  ],
  [
    'AMB-044 gets both spellings of a source, in two routers of its tenant as well',
    facts({
      router: aRouter({ spec: { routes: { 'my.ci': 'build' } } }),
      rivals: [aRouter({ name: 'older', created: '2025-01-01T00:00:00Z', spec: { routes: { 'my-ci': 'build' } } })],
    }),
    { reason: 'Accepted', claims: ['my.ci'], routes: 1 },
  ],
  [
    'gets a source that an administrator assigned to its namespace, not by the first claim',
    facts({ rivals: [older], assignees: assigned('tenant-a') }),
    { reason: 'Accepted', claims: ['github'], routes: 1 },
  ],
  [
    'does not get one that is assigned elsewhere, although it claimed it first',
    facts({ router: aRouter({ status: claimed('2020-01-01T00:00:00Z') }), assignees: assigned('tenant-b') }),
    { reason: 'SourceTaken', routes: 1 },
  ],
  [
    'does not get one by a claim that is older than itself',
    facts({
      router: aRouter({ status: claimed('1970-01-01T00:00:00Z') }),
      rivals: [
        aRouter({ namespace: 'tenant-b', created: '2025-01-01T00:00:00Z', status: claimed('2025-06-01T00:00:00Z') }),
      ],
    }),
    { reason: 'SourceTaken', routes: 1 },
  ],
  [
    'accepts a route to a workflow, and claims its source',
    facts(),
    { reason: 'Accepted', claims: ['github'], routes: 1 },
  ],
  [
    'claims sources of webhooks alone',
    facts({ router: aRouter({ spec: { routes: { http_api: 'build', Tickets: 'build', stdin: 'build' } } }) }),
    { reason: 'Accepted', claims: ['stdin'], routes: 3 },
  ],
  [
    'keeps a claim of a route whose workflow is not there yet, so that no other router takes it meanwhile',
    facts({ targets: {} }),
    { reason: 'WorkflowNotFound', claims: ['github'], routes: 0 },
  ],
  [
    'says that a workflow is refused or not checked',
    facts({ targets: { build: 'not_ready' } }),
    { reason: 'WorkflowNotReady', claims: ['github'], routes: 0 },
  ],
  ['AMB-144 leaves a source to an older router', facts({ rivals: [older] }), { reason: 'SourceTaken', routes: 1 }],
  [
    'AMB-144 keeps a source that it claimed before an older router named it',
    facts({ router: aRouter({ status: claimed('2026-01-01T00:00:01.000Z') }), rivals: [older] }),
    { reason: 'Accepted', claims: ['github'], routes: 1 },
  ],
  [
    'shares the name http_api with other tenants',
    facts({
      router: aRouter({ spec: { routes: { http_api: 'build' } } }),
      rivals: [
        aRouter({ namespace: 'tenant-b', created: '2025-01-01T00:00:00Z', spec: { routes: { http_api: 'x' } } }),
      ],
    }),
    { reason: 'Accepted', routes: 1 },
  ],
  [
    'does not share it within a tenant',
    facts({
      router: aRouter({ spec: { routes: { http_api: 'build' } } }),
      rivals: [aRouter({ name: 'first', created: '2025-01-01T00:00:00Z', spec: { routes: { http_api: 'x' } } })],
    }),
    { reason: 'SourceTaken', routes: 1 },
  ],
  ['does nothing outside of tenants', facts({ isTenant: false }), { reason: 'NotATenant', routes: 0 }],
  [
    'ROUTE-05 says that there is no such router agent',
    facts({ router: aRouter({ spec: { router_agent: 'triage' } }), targets: {}, agent: 'absent' }),
    { reason: 'RouterAgentNotFound', routes: 0 },
  ],
  [
    'ROUTE-05 says that the router agent is refused or not checked',
    facts({ router: aRouter({ spec: { router_agent: 'triage' } }), targets: {}, agent: 'not_ready' }),
    { reason: 'RouterAgentNotReady', routes: 0 },
  ],
  [
    'ROUTE-05 accepts a router agent without any route',
    facts({ router: aRouter({ spec: { router_agent: 'triage' } }), targets: {}, agent: 'accepted' }),
    { reason: 'Accepted', routes: 0 },
  ],
  [
    'gives the first reason that applies, whatever the order of the routes',
    facts({
      router: aRouter({ spec: { routes: { a: 'gone', github: 'build' }, router_agent: 'triage' } }),
      rivals: [older],
    }),
    { reason: 'SourceTaken', claims: ['a'], routes: 1 },
  ],
];

describe('decideRouter', () => {
  it.each(rows)('%s', (_title, given, want) => {
    const status = decideRouter(given, now);
    const [condition] = status.conditions ?? [];
    expect({
      reason: condition?.reason,
      claims: status.claims?.map(({ source }) => source),
      routes: status.routes,
    }).toEqual({ claims: undefined, ...want });
    expect(condition?.status).toBe(want.reason === 'Accepted' ? 'True' : 'False');
    expect(status.observedGeneration).toBe(3);
  });

  it('dates a new claim now, and never dates it again', () => {
    const first = decideRouter(facts(), now);
    expect(first.claims).toEqual([{ source: 'github', since: today }]);
    const again = decideRouter(facts({ router: aRouter({ status: first }) }), now + 60_000);
    expect(again).toEqual(first);
  });

  it('names no other tenant, nor what that calls its router', () => {
    const secret = aRouter({ name: 'secret-router', namespace: 'tenant-rival', created: '2025-01-01T00:00:00Z' });
    const text = JSON.stringify(decideRouter(facts({ rivals: [secret] }), now));
    expect(text).toContain("source 'github' is claimed by another tenant");
    expect(text).not.toMatch(/secret-router|rival/);
  });

  it('names the router of the same tenant that has the source', () => {
    const first = aRouter({ name: 'first', created: '2025-01-01T00:00:00Z' });
    expect(decideRouter(facts({ rivals: [first] }), now).conditions?.[0]?.message).toBe(
      "source 'github' is routed by StimulusRouter first",
    );
  });

  it.each([
    [1, "source 's1': there is no workflow gone"],
    [3, "source 's3': there is no workflow gone"],
    [4, 'and 1 more'],
  ])('names at most three problems of %i', (count, end) => {
    const routes = Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index + 1}`, 'gone']));
    const { conditions } = decideRouter(facts({ router: aRouter({ spec: { routes } }), targets: {} }), now);
    expect(conditions?.[0]?.message.endsWith(end)).toBe(true);
  });
});
