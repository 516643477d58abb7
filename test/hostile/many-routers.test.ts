import { describe, expect, it } from 'vitest';
import { decideRouter } from '../../controllers/stimulus-router/decide.ts';
import { limits } from '../../crds/limits.ts';
import type { StimulusRouter } from '../../crds/schema/stimulus-router.ts';
import { claimantOf } from '../../lib/stimulus/source-claims.ts';
import { restedMsOf, turnMs } from './support/turns.ts';

/**
 * The attacker makes as many routers as a namespace may hold, each with as many routes as a router may have, all of the
 * same sources: each router is the rival of every other one in every source.
 */
const now = Date.parse('2026-01-02T03:04:05Z');
const count = 200;
const routers = Array.from({ length: count }, (_, at): StimulusRouter => {
  const sources = Array.from({ length: limits.mapEntries }, (_none, index) => `hostile-source-${index}`);
  return {
    apiVersion: 'windlass.dev/v1',
    kind: 'StimulusRouter',
    metadata: { name: `r${at}`, namespace: 'tenant-a', uid: `u${at}`, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { routes: Object.fromEntries(sources.map((source) => [source, 'build'])) },
    status: { claims: at === 0 ? sources.map((source) => ({ source, since: '2026-01-01T00:00:01Z' })) : [] },
  };
});

describe('a namespace full of routers that want the same sources', () => {
  it('takes a turn of less than 100 ms to decide about each', () => {
    const [first, second] = routers;
    if (first === undefined || second === undefined) throw new Error('two routers at least');
    const facts = { isTenant: true, rivals: routers, assignees: new Map(), targets: new Map() };
    expect(decideRouter({ ...facts, router: first }, now).claims).toHaveLength(limits.mapEntries);
    expect(decideRouter({ ...facts, router: second }, now).claims).toBeUndefined();
    const ms = restedMsOf(() => decideRouter({ ...facts, router: second }, now), turnMs);
    expect(ms).toBeLessThan(turnMs);
  });

  it('costs a webhook less than a millisecond to route', () => {
    expect(restedMsOf(() => claimantOf('hostile-source-7', routers), 1)).toBeLessThan(1);
  });
});
