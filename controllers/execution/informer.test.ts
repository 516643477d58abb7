import { describe, expect, it } from 'vitest';
import { slimExecution } from '../../lib/execution/slim-execution.ts';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { decide } from './engine/decide.ts';
import { statusPatch } from '../runtime/status-patch.ts';

const finished = (spec: object = {}) =>
  anExecution()
    .with({ input: { a: 1 }, ...spec })
    .past({ state: 'a' }, { big: 'x' })
    .ended('completed', 5)
    .build();

describe('the cache of executions', () => {
  it('keeps of one that has ended neither values nor history', () => {
    const { spec, status } = slimExecution(finished());
    expect(spec.input).toBeUndefined();
    expect(status).toMatchObject({ phase: 'completed', finished_at: expect.any(String) });
    expect(status).not.toHaveProperty('blackboard');
    expect(status).not.toHaveProperty('history');
  });

  it('keeps no values of a running one either, nor of a child', () => {
    const running = anExecution().past({ state: 'a' }, { big: 'x' }).now({ state: 'b', kind: 'Human' }).build();
    expect(slimExecution(running).status).not.toHaveProperty('blackboard');
    const child = finished({ parent: { name: 'p', uid: 'u', state: 's', visit: 1, depth: 1 } });
    expect(slimExecution(child).spec).not.toHaveProperty('input');
  });

  it('what was left out of the cache is never taken out of the object', () => {
    const execution = slimExecution(finished());
    const { spec } = aWorkflow('w').state('a', anEnd()).build();
    const definition = { name: 'w', namespace: 'default', uid: 'w', version: '1.0.0', revision: 'r', spec };
    const facts = {
      execution,
      workflow: { kind: 'found', definition } as const,
      workflows: new Map(),
      pods: [],
      children: [],
      volumes: {},
      loaded: new Map(),
      settings: { executionTtlSeconds: 60, archiveGraceSeconds: 60 },
    };
    const decision = decide(facts, Date.parse(execution.status?.finished_at ?? ''));
    const patch = decision.kind === 'decision' ? statusPatch(execution, decision.status) : undefined;
    const removed = (patch ?? []).filter(({ op, path }) => op === 'remove' || path === '/status');
    expect(removed).toEqual([]);
  });
});
