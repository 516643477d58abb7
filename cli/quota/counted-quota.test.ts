import { afterEach, expect, it } from 'vitest';
import { createCredentialSource } from '../../lib/kube/credentials.ts';
import { createKubeClient } from '../../lib/kube/http-client.ts';
import { KubeError } from '../../lib/kube/kube-error.ts';
import { configMaps } from '../../lib/kube/resource.ts';
import { answerJson, startHttpPeer } from '../../test/support/http-peer.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { withCountedQuota } from './counted-quota.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const object = { metadata: { namespace: 'tenant-a', name: 'one' } };

const unknown = 'configmaps "one" is forbidden: status unknown for quota: windlass';

/** A server that refuses the first `refusals` creates with `message`. */
async function setUp(refusals: number, message = unknown, mayRecount = true) {
  const creates = () => peer.requests.filter(({ path }) => !path.includes('resourcequotas'));
  const recounts = () => peer.requests.filter(({ path }) => path.includes('resourcequotas')).map(({ body }) => body);
  const peer = await startHttpPeer(({ path }, response) => {
    if (path.includes('resourcequotas')) return answerJson(response, mayRecount ? 200 : 403, { metadata: {} });
    if (creates().length > refusals) return answerJson(response, 201, object);
    answerJson(response, 403, { kind: 'Status', code: 403, reason: 'Forbidden', message });
  });
  const clock = createManualClock();
  const interrupt = new AbortController();
  const credentials = createCredentialSource(async () => ({ server: peer.url, tls: {}, headers: {} }), clock);
  const client = createKubeClient({ credentials, clock });
  const notes: string[] = [];
  const note = (line: string): number => notes.push(line);
  const kube = withCountedQuota(client, { clock, note, interrupted: interrupt.signal });
  cleanups.push(
    () => peer.close(),
    () => client.close(),
  );
  /** Moves time while the call is under way. */
  const ended = async <T>(call: Promise<T>): Promise<T | KubeError> => {
    let over = false;
    const end = call.catch((error: KubeError) => error).finally(() => (over = true));
    while (!over) await clock.advance(1_000);
    return end;
  };
  return { kube, creates, recounts, notes, interrupt, ended };
}

it('a create and an apply wait until Kubernetes has counted a new quota, and report the wait once', async () => {
  const { kube, creates, notes, ended } = await setUp(3);
  expect(await ended(kube.create(configMaps, object))).toMatchObject(object);
  expect(await ended(kube.apply(configMaps, object, { fieldManager: 'test' }))).toMatchObject(object);
  expect(creates()).toHaveLength(5);
  expect(notes).toEqual(['waiting until Kubernetes has counted the new quota of namespace tenant-a …']);
});

it('a wait changes the quota and changes it back every five seconds, so that Kubernetes counts it', async () => {
  const { kube, recounts, ended } = await setUp(6);
  expect(await ended(kube.create(configMaps, object))).toMatchObject(object);
  const key = 'count/recounts.windlass.dev';
  expect(recounts().map((body) => JSON.parse(body))).toEqual([
    { spec: { hard: { [key]: '1' } } },
    { spec: { hard: { [key]: null } } },
  ]);
});

it('without the right to change quotas the wait lasts five and a half minutes, and the refusal surfaces', async () => {
  const { kube, creates, recounts, ended } = await setUp(Number.POSITIVE_INFINITY, unknown, false);
  expect(await ended(kube.create(configMaps, object))).toMatchObject({ status: 403 });
  expect(creates().length).toBeLessThanOrEqual(331);
  expect(recounts().length).toBeGreaterThan(1);
});

it('an interrupt ends the wait, and every other refusal surfaces at once', async () => {
  const uncounted = await setUp(Number.POSITIVE_INFINITY);
  uncounted.interrupt.abort();
  expect(await uncounted.ended(uncounted.kube.create(configMaps, object))).toBeInstanceOf(KubeError);
  expect(uncounted.creates()).toHaveLength(1);
  const full = await setUp(1, 'configmaps "one" is forbidden: exceeded quota: windlass');
  expect(await full.ended(full.kube.create(configMaps, object))).toBeInstanceOf(KubeError);
  expect(full.creates()).toHaveLength(1);
});
