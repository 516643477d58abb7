import { expect, it } from 'vitest';
import type { SecurityContextSpec } from '../../crds/schema/security-context.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { type KubeClient, KubeError } from '../../lib/kube/index.ts';
import { revisionOf } from '../../lib/registration/revision.ts';
import { anAgent } from '../../test/builders/agent-builder.ts';
import { createDefinitions } from './definitions.ts';

const agent = { ...anAgent(), spec: { ...anAgent().spec, security: { context: 'desk' } } };
const revision = revisionOf(agent);
const pin = { name: 'reviewer', namespace: 'tenant-a', uid: 'uid-of-reviewer', version: '1.0.0' };
const executionOf = (name: string) =>
  ({
    metadata: { name, namespace: 'tenant-a' },
    status: { agent: { ...pin, revision: revision.metadata.name } },
  }) as AgentExecution;

/** A cluster with one context, which counts what it is asked. */
function cluster() {
  const state = {
    requests: 0,
    isAway: false,
    isGone: false,
    now: 1,
    security: { tools: ['*'] } as SecurityContextSpec,
  };
  const get = async ({ plural }: { plural: string }) => {
    state.requests += 1;
    await Promise.resolve();
    if (state.isAway) throw new Error('away');
    if (state.isGone && plural !== 'controllerrevisions')
      throw new KubeError(404, { reason: 'NotFound', message: 'gone' }, { verb: 'get', resource: plural });
    return plural === 'controllerrevisions' ? revision : { metadata: {}, spec: state.security };
  };
  const kube = { get } as unknown as Pick<KubeClient, 'get'>;
  return { state, definitions: createDefinitions({ kube, clock: { steadyMs: () => state.now } }) };
}

it('reads the definition once for all executions of a version that ask at one time, and again 30 s later', async () => {
  const { state, definitions } = cluster();
  const askAll = () => Promise.all(['a', 'b', 'c'].map((name) => definitions.of(executionOf(name))));
  await askAll();
  expect(state.requests).toBe(2);
  state.security = { tools: [] };
  state.now += 30_000;
  expect((await askAll()).map(({ security }) => security.tools)).toEqual([['*'], ['*'], ['*']]);
  state.now += 1;
  expect((await askAll()).map(({ security }) => security.tools)).toEqual([[], [], []]);
  expect(state.requests).toBe(4);
});

it('asks again after a reading that failed', async () => {
  const { state, definitions } = cluster();
  state.isAway = true;
  await expect(Promise.all([definitions.of(executionOf('a')), definitions.of(executionOf('b'))])).rejects.toThrow(
    'away',
  );
  state.isAway = false;
  expect(await definitions.of(executionOf('a'))).toMatchObject({ security: { tools: ['*'] } });
});

it('reads a definition anew where what was read before will not do, and keeps none whose context is gone', async () => {
  const { state, definitions } = cluster();
  await definitions.of(executionOf('a'));
  state.security = { tools: [] };
  expect((await definitions.of(executionOf('a'), 'anew')).security.tools).toEqual([]);
  expect((await definitions.of(executionOf('b'))).security.tools).toEqual([]);
  state.isGone = true;
  const gone = {
    reason: 'SecurityContextNotFound',
    message: expect.stringContaining('no SecurityContext desk') as string,
  };
  await expect(definitions.of(executionOf('a'), 'anew')).rejects.toMatchObject(gone);
  await expect(definitions.of(executionOf('b'))).rejects.toMatchObject(gone);
});
