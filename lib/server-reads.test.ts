import { expect, it } from 'vitest';
import type { Agent } from '../crds/schema/agent.ts';
import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import { createManualClock } from '../test/support/manual-clock.ts';
import { agents, workflowExecutions } from './kinds.ts';
import { KubeError } from './kube/index.ts';
import { createServerReads, lookUpBounds, verdictBounds } from './server-reads.ts';

/** A server whose answers for the tenant `flood` never come; nothing is there for other tenants. */
function lookUps() {
  const asked: string[] = [];
  const kube = {
    get: (_: unknown, { namespace, name }: { namespace: string; name: string }) => {
      asked.push(`${namespace}/${name}`);
      if (namespace === 'flood' || name.startsWith('flood')) return new Promise<never>(() => undefined);
      return Promise.reject(new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'x' }));
    },
  };
  const remembered: WorkflowExecution[] = [];
  const cache = { remember: (object: WorkflowExecution) => void remembered.push(object) };
  return {
    asked,
    remembered,
    read: createServerReads({
      kube: kube as never,
      clock: createManualClock(),
      resource: workflowExecutions,
      cache,
      bounds: lookUpBounds,
    }),
  };
}

it('a tenant that looks up names without end does not block the lookups of others', async () => {
  const { read, asked } = lookUps();
  for (let i = 0; i < 2_000; i++) {
    read({ namespace: 'flood', name: `n${i}` }, 'flood').catch(() => undefined);
    read({ namespace: 'global', name: `flood-${i}` }, 'flood').catch(() => undefined);
  }
  await expect.poll(() => asked.length).toBe(8);
  expect(await read({ namespace: 'quiet', name: 'x' }, 'quiet')).toBeUndefined();
  expect(await read({ namespace: 'global', name: 'x' }, 'quiet')).toBeUndefined();
});

it('beyond what may wait a look-up is refused, for that tenant alone', async () => {
  const { read } = lookUps();
  for (let i = 0; i < 1_008; i++) void read({ namespace: 'flood', name: `n${i}` }, 'flood');
  await expect(read({ namespace: 'flood', name: 'more' }, 'flood')).rejects.toMatchObject({
    code: 'unavailable',
    reason: 'Overloaded',
  });
  expect(await read({ namespace: 'quiet', name: 'x' }, 'quiet')).toBeUndefined();
});

it('the same question of one tenant is asked once at a time', async () => {
  const { read, asked } = lookUps();
  const ref = { namespace: 'quiet', name: 'x' };
  await Promise.all([read(ref, 'quiet'), read(ref, 'quiet')]);
  expect(asked).toEqual(['quiet/x']);
});

it('D8 a question joins no read that began before it: the object may have been created meanwhile', async () => {
  const answers: PromiseWithResolvers<WorkflowExecution>[] = [];
  const get = () => {
    const answer = Promise.withResolvers<WorkflowExecution>();
    answers.push(answer);
    return answer.promise;
  };
  const cache = { remember: () => undefined };
  const clock = createManualClock();
  const read = createServerReads({
    kube: { get } as never,
    clock,
    resource: workflowExecutions,
    cache,
    bounds: lookUpBounds,
  });
  const ref = { namespace: 'quiet', name: 'x' };
  const before = read(ref, 'quiet');
  await expect.poll(() => answers.length).toBe(1);
  const after = read(ref, 'quiet');
  answers[0]?.reject(new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'x' }));
  expect(await before).toBeUndefined();
  await expect.poll(() => answers.length).toBe(2);
  answers[1]?.resolve({ metadata: { name: 'x' } } as WorkflowExecution);
  expect(await after).toMatchObject({ metadata: { name: 'x' } });
});

/** A server that answers when the test says so. */
function verdicts() {
  const clock = createManualClock();
  const asked: { readonly place: string; readonly answer: PromiseWithResolvers<Agent>; readonly timeoutMs?: number }[] =
    [];
  const get = (_: unknown, place: { namespace: string; name: string }, options: { readonly timeoutMs?: number }) => {
    const answer = Promise.withResolvers<Agent>();
    asked.push({ place: `${place.namespace}/${place.name}`, answer, ...options });
    return answer.promise;
  };
  return {
    clock,
    asked,
    read: createServerReads({ kube: { get } as never, clock, resource: agents, bounds: verdictBounds }),
  };
}

const absent = new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'agents' });

it('D8 any number of verdicts on one object at a time takes two reads, each as of the verdicts that wait for it', async () => {
  const { asked, read } = verdicts();
  const place = { namespace: 'tenant-a', name: 'writer' };
  const before = read(place);
  await expect.poll(() => asked.length).toBe(1);
  const after = Array.from({ length: 50 }, () => read(place));
  asked[0]?.answer.reject(absent);
  expect(await before).toBeUndefined();
  await expect.poll(() => asked.length).toBe(2);
  asked[1]?.answer.resolve({ metadata: { name: 'writer' } } as Agent);
  for (const found of await Promise.all(after)) expect(found?.metadata.name).toBe('writer');
  expect(asked).toHaveLength(2);
});

it('D8 the verdicts of one tenant leave room for those of another, also where the server does not answer', async () => {
  const { asked, read } = verdicts();
  for (let at = 0; at < 100; at++) read({ namespace: 'flood', name: `n${at}` }).catch(() => undefined);
  await expect.poll(() => asked.length).toBeGreaterThan(1);
  const quiet = read({ namespace: 'quiet', name: 'writer' });
  await expect.poll(() => asked.at(-1)?.place).toBe('quiet/writer');
  asked.at(-1)?.answer.reject(absent);
  expect(await quiet).toBeUndefined();
  expect(asked.every(({ timeoutMs }) => timeoutMs === 8_000)).toBe(true);
});

it('D8 a server that cannot be asked is no verdict', async () => {
  const { asked, clock, read } = verdicts();
  const refused = read({ namespace: 'tenant-a', name: 'writer' });
  await expect.poll(() => asked.length).toBe(1);
  asked[0]?.answer.reject(new Error('away'));
  await expect(refused).rejects.toThrow('away');
  const all = Array.from({ length: 40 }, (_, at) => read({ namespace: 'tenant-a', name: `n${at}` }));
  const late = all.map((one) => one.catch((error: unknown) => error));
  await expect.poll(() => asked.length).toBeGreaterThan(5);
  await clock.advance(20_000);
  expect(await late.at(-1)).toMatchObject({ code: 'unavailable' });
});
