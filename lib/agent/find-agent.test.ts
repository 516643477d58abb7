import { describe, expect, it } from 'vitest';
import { globalNamespace } from '../../crds/labels.ts';
import type { Agent } from '../../crds/schema/agent.ts';
import { anAgent } from '../../test/builders/agent-builder.ts';
import { createCache } from '../informer/index.ts';
import { cachedAgent } from './find-agent.ts';

const ids = ['own', 'global', 'foreign'].map((_, index) => `0b9f2c1e-1111-4222-8333-44445555666${index}`);
const [ownId = '', globalId = '', foreignId = ''] = ids;
const own = anAgent('judge', {}, { uid: ownId });
const global = anAgent('judge', {}, { uid: globalId, namespace: globalNamespace });
const foreign = anAgent('spy', {}, { uid: foreignId, namespace: 'tenant-b' });

function cacheOf(...agents: Agent[]) {
  const cache = createCache<Agent>({});
  cache.replaceAll(agents, '1');
  return cache;
}
const all = cacheOf(own, global, foreign);

describe('the agent that a name or an id means', () => {
  it.each([
    ['the one of the namespace first', all, ['tenant-a', 'judge'], ownId],
    ['the global one elsewhere', all, ['tenant-b', 'judge'], globalId],
    ['by its id', all, ['tenant-a', ownId], ownId],
    ['a global one by its id', all, ['tenant-b', globalId], globalId],
    ['ORCH-AUTH-11 none of another tenant by name', all, ['tenant-a', 'spy'], undefined],
    ['ORCH-AUTH-11 none of another tenant by id', all, ['tenant-a', foreignId], undefined],
    ['none that is named like an id', cacheOf(anAgent(foreignId)), ['tenant-a', foreignId], undefined],
  ])('AGENT-05 is %s', (_title, cache, [namespace = '', nameOrUid = ''], uid) => {
    expect(cachedAgent(cache, namespace, nameOrUid)?.metadata.uid).toBe(uid);
  });
});
