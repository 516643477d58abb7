import { expect, it } from 'vitest';
import { globalNamespace } from '../../crds/labels.ts';
import type { Agent } from '../../crds/schema/agent.ts';
import { createCache } from '../../lib/informer/index.ts';
import { anAgent } from '../../test/builders/agent-builder.ts';
import { judgedBy } from './wakes.ts';

const judgedIn = (namespace: string, agent: string, name = 'writer'): Agent =>
  anAgent(name, { execution: { validation: { agent, threshold: 1 } } }, { namespace, uid: `${namespace}/${name}` });

const cacheOf = (agents: readonly Agent[]) => {
  const cache = createCache<Agent, 'judge'>({
    indexes: { judge: ({ spec }) => [spec.execution?.validation?.agent ?? ''] },
  });
  cache.replaceAll(agents, '1');
  return cache;
};

it('wakes the agents of its namespace that a new or deleted agent judges, by name or by uid', () => {
  const judge = anAgent('strict', {}, { namespace: 'tenant-a', uid: 'uid-of-strict' });
  const cache = cacheOf([
    judgedIn('tenant-a', 'strict'),
    judgedIn('tenant-a', 'uid-of-strict', 'other'),
    judgedIn('tenant-a', 'lax', 'third'),
    judgedIn('tenant-b', 'strict'),
  ]);
  const woken = ['tenant-a/writer', 'tenant-a/other'];
  expect(judgedBy({ before: undefined, after: judge }, cache)).toEqual(woken);
  expect(judgedBy({ before: judge, after: undefined }, cache)).toEqual(woken);
  expect(judgedBy({ before: judge, after: judge }, cache)).toEqual([]);
});

it('wakes those of every namespace for a global judge, and no more than a hundred', () => {
  const judge = anAgent('strict', {}, { namespace: globalNamespace, uid: 'uid-of-strict' });
  const many = Array.from({ length: 150 }, (_, index) => judgedIn('tenant-a', 'strict', `writer-${index}`));
  expect(judgedBy({ before: undefined, after: judge }, cacheOf([judgedIn('tenant-b', 'strict')]))).toHaveLength(1);
  expect(judgedBy({ before: undefined, after: judge }, cacheOf(many))).toHaveLength(100);
});
