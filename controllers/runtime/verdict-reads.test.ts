import { expect, it } from 'vitest';
import type { Agent } from '../../crds/schema/agent.ts';
import { agents } from '../../lib/kinds.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createVerdictReads } from './verdict-reads.ts';

/** A server that answers when the test says so. */
function setUp() {
  const clock = createManualClock();
  const asked: { readonly place: string; readonly answer: PromiseWithResolvers<Agent>; readonly timeoutMs?: number }[] =
    [];
  const get = (_: unknown, place: { namespace: string; name: string }, options: { readonly timeoutMs?: number }) => {
    const answer = Promise.withResolvers<Agent>();
    asked.push({ place: `${place.namespace}/${place.name}`, answer, ...options });
    return answer.promise;
  };
  return { clock, asked, read: createVerdictReads({ kube: { get } as never, clock, resource: agents }) };
}

const absent = new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'agents' });

it('D8 any number of verdicts on one object at a time takes two reads, each as of the verdicts that wait for it', async () => {
  const { asked, read } = setUp();
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
  const { asked, read } = setUp();
  for (let at = 0; at < 100; at++) read({ namespace: 'flood', name: `n${at}` }).catch(() => undefined);
  await expect.poll(() => asked.length).toBeGreaterThan(1);
  const quiet = read({ namespace: 'quiet', name: 'writer' });
  await expect.poll(() => asked.at(-1)?.place).toBe('quiet/writer');
  asked.at(-1)?.answer.reject(absent);
  expect(await quiet).toBeUndefined();
  expect(asked.every(({ timeoutMs }) => timeoutMs === 8_000)).toBe(true);
});

it('D8 a server that cannot be asked is no verdict', async () => {
  const { asked, clock, read } = setUp();
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
