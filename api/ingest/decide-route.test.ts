import { describe, expect, it } from 'vitest';
import {
  type ClassifiedDecision,
  decideClassified,
  decideRoute,
  type RouteDecision,
  type Routing,
} from './decide-route.ts';

describe('decideRoute', () => {
  it.each<[title: string, routing: Routing, want: RouteDecision]>([
    [
      'ROUTE-02 ROUTE-03 ROUTE-11 a route decides, with confidence 1.0',
      { workflow: 'build', confidenceThreshold: 0.7 },
      { kind: 'routed', workflow: 'build', confidence: 1, mode: 'Deterministic' },
    ],
    [
      'ROUTE-11 a route decides, also where a router agent exists',
      { workflow: 'build', routerAgent: 'triage', confidenceThreshold: 0.7 },
      { kind: 'routed', workflow: 'build', confidence: 1, mode: 'Deterministic' },
    ],
    [
      'ROUTE-12 without a route the router agent is asked',
      { routerAgent: 'triage', confidenceThreshold: 0.9 },
      { kind: 'classify', routerAgent: 'triage', threshold: 0.9 },
    ],
    [
      'ROUTE-13 without a route and a router agent it is rejected',
      { confidenceThreshold: 0.7 },
      { kind: 'rejected', reason: 'NoRouterConfigured' },
    ],
  ])('%s', (_title, routing, want) => {
    expect(decideRoute(routing)).toEqual(want);
  });
});

describe('decideClassified', () => {
  const routed = (confidence: number): ClassifiedDecision => ({
    kind: 'routed',
    workflow: 'build',
    confidence,
    mode: 'LlmClassified',
  });
  const low: ClassifiedDecision = { kind: 'rejected', reason: 'LowConfidence' };
  const failed: ClassifiedDecision = {
    kind: 'failed',
    error: 'the router agent gave no confidence between 0 and 1',
  };

  it.each<[title: string, confidence: number, threshold: number, want: ClassifiedDecision]>([
    ['ROUTE-14 more than the threshold routes', 0.71, 0.7, routed(0.71)],
    ['ROUTE-14 the threshold itself routes', 0.7, 0.7, routed(0.7)],
    ['ROUTE-15 the next smaller number does not', 0.7 - Number.EPSILON, 0.7, low],
    ['ROUTE-03 no confidence at all is enough for a threshold of 0', 0, 0, routed(0)],
    ['ROUTE-03 full confidence is enough for a threshold of 1', 1, 1, routed(1)],
    ['ROUTE-15 almost full confidence is not', 0.999, 1, low],
    ['ROUTE-16 a confidence below 0 is a failure', -0.001, 0, failed],
    ['ROUTE-16 a confidence above 1 is a failure', 1.001, 0.7, failed],
    ['ROUTE-16 a confidence that is no number is a failure', Number.NaN, 0, failed],
    ['ROUTE-16 an infinite confidence is a failure', Number.POSITIVE_INFINITY, 0, failed],
  ])('%s', (_title, confidence, threshold, want) => {
    expect(decideClassified({ workflow: 'build', confidence }, threshold)).toEqual(want);
  });
});
