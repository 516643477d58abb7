import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { type Answerer, answerJson, type HttpPeer, startHttpPeer } from '../../test/support/http-peer.ts';
import { nested } from '../../test/support/nested.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { type Clock, systemClock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { KubeClient } from './client.ts';
import { createCredentialSource, type Endpoint } from './credentials.ts';
import { withFence } from './fence.ts';
import { createKubeClient } from './http-client.ts';
import {
  isAlreadyExists,
  isConflict,
  isGone,
  isInvalid,
  isNotFound,
  isQuotaRaced,
  isRetryable,
  KubeError,
} from './kube-error.ts';
import { configMaps, leases, metadataOf, namespaces, nodes, pods, resourceQuotas } from './resource.ts';
import type { RequestReport } from './transport.ts';

const pod = { metadata: { namespace: 'team-a', name: 'step-1' }, spec: { containers: [] } };
const typedPod = { ...pod, apiVersion: 'v1', kind: 'Pod' };
const ref = { namespace: 'team-a', name: 'step-1' };

let cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

interface Setup {
  readonly client: KubeClient;
  readonly peer: HttpPeer;
  readonly reports: RequestReport[];
}

async function setUp(
  answer: Answerer,
  options: {
    tls?: boolean;
    maxRequests?: number;
    writeTimeoutMs?: number;
    endpoint?: (e: Endpoint) => Endpoint;
    clock?: Clock;
  } = {},
): Promise<Setup> {
  const peer = await startHttpPeer(answer, options);
  const endpoint = { server: peer.url, tls: { ca: peer.ca }, headers: { authorization: 'Bearer t' } };
  const credentials = createCredentialSource(async () => options.endpoint?.(endpoint) ?? endpoint, { now: Date.now });
  const reports: RequestReport[] = [];
  const client = createKubeClient(
    { credentials, clock: options.clock ?? systemClock, onRequest: (report) => reports.push(report) },
    { maxRequests: options.maxRequests, writeTimeoutMs: options.writeTimeoutMs },
  );
  cleanups.push(
    () => peer.close(),
    () => client.close(),
  );
  return { client, peer, reports };
}

const status = (code: number, reason: string, rest: object = {}) => ({
  kind: 'Status',
  code,
  reason,
  message: `it is ${reason}`,
  ...rest,
});

describe('connections', () => {
  it('200 requests one after another over TLS use at most two connections', async () => {
    const { client, peer } = await setUp((_, response) => answerJson(response, 200, pod), { tls: true });
    for (let i = 0; i < 200; i++) await client.get(pods, ref);
    expect(peer.requests).toHaveLength(200);
    expect(peer.connections).toBeLessThanOrEqual(2);
  });

  it('a burst opens no more connections than allowed, and watches do not count among them', async () => {
    const { client, peer } = await setUp(
      (request, response) => {
        if (request.query.get('watch')) response.writeHead(200).flushHeaders();
        else setTimeout(() => answerJson(response, 200, pod), 5);
      },
      { maxRequests: 3 },
    );
    const stop = new AbortController();
    const watches = Array.from({ length: 4 }, () => drain(client.watch(pods, { signal: stop.signal })));
    await Promise.all(Array.from({ length: 50 }, () => client.get(pods, ref)));
    expect(peer.connections).toBeLessThanOrEqual(3 + 4);
    stop.abort();
    expect(await Promise.all(watches)).toEqual([[], [], [], []]);
  });

  it('requests of one namespace that hang leave connections for another one, and for a status', async () => {
    const { client, peer } = await setUp(
      (request, response) => {
        if (request.method === 'POST') return;
        answerJson(response, 200, pod);
      },
      { maxRequests: 10 },
    );
    const stop = new AbortController();
    const hanging = Array.from({ length: 50 }, () => client.create(pods, pod, { signal: stop.signal }));
    for (const create of hanging) create.catch(() => undefined);
    await expect.poll(() => peer.requests.length).toBe(8);
    await client.get(pods, { namespace: 'team-b', name: 'x' });
    await client.mergePatchStatus(pods, ref, {});
    await client.get(nodes, { name: 'n' });
    const own = client.get(pods, ref);
    expect(peer.requests.map(({ method }) => method).slice(8)).toEqual(['GET', 'PATCH', 'GET']);
    stop.abort();
    await Promise.allSettled(hanging);
    await own;
    expect(peer.requests).toHaveLength(8 + 4);
  });

  it('a plain http server works, below a path prefix as well', async () => {
    const { client, peer } = await setUp((_, response) => answerJson(response, 200, pod), {
      endpoint: (e) => ({ ...e, server: `${e.server}/k8s/clusters/c-1` }),
    });
    await client.get(pods, ref);
    expect(peer.requests[0]?.path).toBe('/k8s/clusters/c-1/api/v1/namespaces/team-a/pods/step-1');
  });

  it('a rotated certificate opens new connections and requests under way still end', async () => {
    let ca: string | undefined;
    let version = 0;
    const peer = await startHttpPeer(
      (request, response) => void setTimeout(() => answerJson(response, 200, { ...pod, q: request.path }), 30),
      { tls: true },
    );
    ca = peer.ca;
    let now = 0;
    const credentials = createCredentialSource(
      async () => ({ server: peer.url, tls: { ca: `${ca}${'\n'.repeat(version)}` }, headers: {} }),
      { now: () => now },
    );
    const client = createKubeClient({ credentials, clock: systemClock });
    cleanups.push(
      () => peer.close(),
      () => client.close(),
    );
    const before = client.get(pods, ref);
    await new Promise((resolve) => setTimeout(resolve, 15));
    version = 1;
    now = 61_000;
    await client.get(pods, ref);
    expect(await before).toMatchObject(pod);
    expect(peer.connections).toBe(2);
  });
});

async function drain<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of stream) all.push(one);
  return all;
}

describe('the bytes on the wire', () => {
  const cases: Record<
    string,
    { call: (c: KubeClient) => Promise<unknown>; want: string; type?: string; body?: unknown }
  > = {
    'get of a namespaced object': { call: (c) => c.get(pods, ref), want: 'GET /api/v1/namespaces/team-a/pods/step-1' },
    'get of a cluster-scoped object': {
      call: (c) => c.get(namespaces, { name: 'n' }),
      want: 'GET /api/v1/namespaces/n',
    },
    'list of one namespace with a selector': {
      call: (c) => c.list(leases, { namespace: 'a', labelSelector: 'x=y', limit: 5 }),
      want: 'GET /apis/coordination.k8s.io/v1/namespaces/a/leases?labelSelector=x%3Dy&limit=5',
    },
    'create fills in the type': {
      call: (c) => c.create(pods, pod, { fieldManager: 'me' }),
      want: 'POST /api/v1/namespaces/team-a/pods?fieldManager=me',
      type: 'application/json',
      body: typedPod,
    },
    'dry run': {
      call: (c) => c.create(pods, pod, { dryRun: true }),
      want: 'POST /api/v1/namespaces/team-a/pods?dryRun=All',
      type: 'application/json',
      body: typedPod,
    },
    'replace of the status': {
      call: (c) => c.replaceStatus(pods, pod),
      want: 'PUT /api/v1/namespaces/team-a/pods/step-1/status',
      type: 'application/json',
      body: typedPod,
    },
    'merge patch': {
      call: (c) => c.mergePatch(pods, ref, { metadata: { labels: { a: null } } }),
      want: 'PATCH /api/v1/namespaces/team-a/pods/step-1',
      type: 'application/merge-patch+json',
      body: { metadata: { labels: { a: null } } },
    },
    'strategic merge patch': {
      call: (c) => c.strategicPatch(pods, ref, { metadata: { ownerReferences: [{ uid: 'u' }] } }),
      want: 'PATCH /api/v1/namespaces/team-a/pods/step-1',
      type: 'application/strategic-merge-patch+json',
      body: { metadata: { ownerReferences: [{ uid: 'u' }] } },
    },
    'JSON patch of the status': {
      call: (c) => c.jsonPatchStatus(pods, ref, [{ op: 'remove', path: '/status/x' }]),
      want: 'PATCH /api/v1/namespaces/team-a/pods/step-1/status',
      type: 'application/json-patch+json',
      body: [{ op: 'remove', path: '/status/x' }],
    },
    'server-side apply': {
      call: (c) => c.apply(pods, pod, { fieldManager: 'me', force: true }),
      want: 'PATCH /api/v1/namespaces/team-a/pods/step-1?fieldManager=me&force=true',
      type: 'application/apply-patch+yaml',
      body: typedPod,
    },
    'delete of one incarnation': {
      call: (c) => c.delete(pods, ref, { uid: 'u', propagation: 'Background', gracePeriodSeconds: 0 }),
      want: 'DELETE /api/v1/namespaces/team-a/pods/step-1',
      type: 'application/json',
      body: {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        preconditions: { uid: 'u' },
        propagationPolicy: 'Background',
        gracePeriodSeconds: 0,
      },
    },
    'delete of a collection': {
      call: (c) => c.deleteCollection(pods, { namespace: 'a', labelSelector: 'x' }),
      want: 'DELETE /api/v1/namespaces/a/pods?labelSelector=x',
      type: 'application/json',
      body: { kind: 'DeleteOptions', apiVersion: 'v1' },
    },
  };
  it.each(Object.entries(cases))('%s', async (_, { call, want, type, body }) => {
    const { client, peer } = await setUp((request, response) =>
      answerJson(response, 200, request.method === 'GET' && request.query.size > 0 ? { metadata: {}, items: [] } : pod),
    );
    await call(client);
    const [request] = peer.requests;
    const query = request?.query.toString();
    expect(`${request?.method} ${request?.path}${query ? `?${query}` : ''}`).toBe(want);
    expect(request?.headers.authorization).toBe('Bearer t');
    expect(request?.headers['content-type']).toBe(type);
    expect(request?.body === '' ? undefined : JSON.parse(request?.body ?? '')).toEqual(body);
  });

  it.each(['', '.', '..'])('refuses the name %j, which would address something else', async (name) => {
    const { client, peer } = await setUp((_, response) => answerJson(response, 200, pod));
    await expect(client.get(pods, { namespace: 'a', name })).rejects.toThrow(TypeError);
    await expect(client.delete(pods, { namespace: 'a', name })).rejects.toThrow(TypeError);
    expect(peer.requests).toHaveLength(0);
  });

  it('a name cannot leave its segment of the path', async () => {
    const { client, peer } = await setUp((_, response) => answerJson(response, 200, pod));
    await client.get(configMaps, { namespace: 'a', name: '../secrets/x?y' });
    expect(peer.requests[0]?.path).toBe('/api/v1/namespaces/a/configmaps/..%2Fsecrets%2Fx%3Fy');
  });

  it('an object of thousands of levels, which kubectl may have stored, is refused before anything is sent', async () => {
    const { client, peer } = await setUp((_, response) => answerJson(response, 200, pod));
    const deep = { ...pod, spec: { containers: [], a: nested(9_000) } };
    await expect(client.create(pods, deep)).rejects.toMatchObject({ code: 'limit_exceeded', reason: 'NestedTooDeep' });
    expect(peer.requests).toHaveLength(0);
  });

  it('a namespaced object without a namespace is refused before anything is sent', async () => {
    const { client, peer } = await setUp((_, response) => answerJson(response, 200, pod));
    await expect(client.get(pods, { name: 'x' })).rejects.toThrow('Pod x needs a namespace');
    await expect(client.create(pods, { ...pod, metadata: { name: 'x' } })).rejects.toThrow('needs a namespace');
    expect(peer.requests).toHaveLength(0);
  });
});

describe('errors', () => {
  const cases = {
    'not found': { code: 404, reason: 'NotFound', is: isNotFound, retry: false },
    'a conflict': { code: 409, reason: 'Conflict', is: isConflict, retry: false },
    'a taken name': { code: 409, reason: 'AlreadyExists', is: isAlreadyExists, retry: false },
    'an expired version': { code: 410, reason: 'Expired', is: isGone, retry: false },
    'an invalid object': { code: 422, reason: 'Invalid', is: isInvalid, retry: false },
    'a server error': { code: 500, reason: 'InternalError', is: (e: unknown) => e instanceof KubeError, retry: true },
    'an unavailable server': {
      code: 503,
      reason: 'ServiceUnavailable',
      is: (e: unknown) => e instanceof KubeError,
      retry: true,
    },
  };
  it.each(Object.entries(cases))('%s is distinguished', async (_, { code, reason, is, retry }) => {
    const { client } = await setUp((__, response) => answerJson(response, code, status(code, reason)));
    const error = await client.create(pods, pod).catch((e: unknown) => e);
    expect(is(error)).toBe(true);
    expect(isConflict(error)).toBe(reason === 'Conflict');
    expect(isRetryable(error)).toBe(retry);
    expect(error).toMatchObject({ status: code, reason, message: `create pods team-a/step-1: it is ${reason}` });
  });

  it('the fields of a refused object are kept', async () => {
    const causes = [{ field: 'spec.initial_state', message: 'names no state', reason: 'FieldValueInvalid' }];
    const { client } = await setUp((_, response) =>
      answerJson(response, 422, status(422, 'Invalid', { details: { causes } })),
    );
    await expect(client.create(pods, pod)).rejects.toMatchObject({ causes });
  });

  it('an answer in HTML keeps the status and shows its beginning', async () => {
    const { client } = await setUp((_, response) => void response.writeHead(502).end(`<h1>${'x'.repeat(1_000)}`));
    const error = await client.get(pods, ref).catch((e: KubeError) => e);
    expect(error).toMatchObject({ status: 502, reason: 'Http502', code: 'unavailable' });
    expect((error as KubeError).serverMessage.length).toBe(300);
  });

  it('delete of what is not there answers false', async () => {
    const { client } = await setUp((_, response) => answerJson(response, 404, status(404, 'NotFound')));
    expect(await client.delete(pods, ref)).toBe(false);
  });

  it('delete where a proxy answers in place of the server is not done', async () => {
    const { client } = await setUp((_, response) => void response.writeHead(404).end('404 page not found'));
    await expect(client.delete(pods, ref)).rejects.toMatchObject({ status: 404, reason: 'Http404' });
  });

  it('no server at all is unavailable', async () => {
    const { client, peer } = await setUp((_, response) => answerJson(response, 200, pod));
    await peer.close();
    const error = await client.get(pods, ref).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(isRetryable(error)).toBe(true);
  });
});

describe('repetition', () => {
  it('a write that met 429 is sent again after Retry-After', async () => {
    let answers = 0;
    const { client, peer, reports } = await setUp((_, response) => {
      answers += 1;
      if (answers > 2) return answerJson(response, 201, pod);
      response.setHeader('retry-after', '0');
      return answerJson(response, 429, status(429, 'TooManyRequests'));
    });
    await client.create(pods, pod);
    expect(peer.requests).toHaveLength(3);
    expect(reports.map(({ code }) => code)).toEqual(['429', '429', '201']);
  });

  it('429 for ever surfaces after five sends, and 429 without Retry-After at once', async () => {
    let header: string | undefined = '0';
    const { client, peer } = await setUp((_, response) => {
      if (header !== undefined) response.setHeader('retry-after', header);
      answerJson(response, 429, status(429, 'TooManyRequests'));
    });
    await expect(client.create(pods, pod)).rejects.toMatchObject({ status: 429, retryAfterMs: 0 });
    expect(peer.requests).toHaveLength(5);
    header = undefined;
    await expect(client.create(pods, pod)).rejects.toMatchObject({ status: 429 });
    expect(peer.requests).toHaveLength(6);
  });

  const racedForQuota = status(409, 'Conflict', {
    message: 'Operation cannot be fulfilled on resourcequotas "windlass": the object has been modified',
  });

  it('a create that lost a race for a quota is sent again', async () => {
    let answers = 0;
    const { client, reports } = await setUp((_, response) => {
      answers += 1;
      answerJson(response, answers > 2 ? 201 : 409, answers > 2 ? pod : racedForQuota);
    });
    await client.create(pods, pod);
    expect(reports.map(({ code }) => code)).toEqual(['409', '409', '201']);
  });

  it('a race for a quota that is always lost surfaces after five sends, as no conflict', async () => {
    const { client, peer } = await setUp((_, response) => answerJson(response, 409, racedForQuota));
    const error: unknown = await client.create(pods, pod).catch((thrown: unknown) => thrown);
    expect(peer.requests).toHaveLength(5);
    expect(error).toMatchObject({ status: 409, code: 'unavailable' });
    expect([isQuotaRaced(error), isRetryable(error), isConflict(error)]).toEqual([true, true, false]);
  });

  it('a conflict of a quota itself, and of any other object, is sent once', async () => {
    let answer: object = racedForQuota;
    const { client, peer } = await setUp((_, response) => answerJson(response, 409, answer));
    const quota = { metadata: { namespace: 'team-a', name: 'windlass' } };
    await expect(client.create(resourceQuotas, quota)).rejects.toSatisfy(isConflict);
    answer = status(409, 'Conflict');
    await expect(client.create(pods, pod)).rejects.toSatisfy(isConflict);
    expect(peer.requests).toHaveLength(2);
  });

  it('a Retry-After beyond the time limit is not waited for', async () => {
    const { client } = await setUp((_, response) => {
      response.setHeader('retry-after', '60');
      answerJson(response, 429, status(429, 'TooManyRequests'));
    });
    await expect(client.create(pods, pod, { timeoutMs: 500 })).rejects.toMatchObject({
      status: 429,
      retryAfterMs: 60_000,
    });
  });

  it('a GET survives a reset connection, a write does not pretend to know', async () => {
    let resets = 0;
    const { client, peer } = await setUp((_, response) => {
      resets += 1;
      if (resets === 1 || resets === 3) peer.resetConnections();
      else answerJson(response, 200, pod);
    });
    await client.get(pods, ref);
    expect(peer.requests).toHaveLength(2);
    await expect(client.create(pods, pod)).rejects.toMatchObject({ code: 'unavailable', reason: 'Unreachable' });
    expect(peer.requests).toHaveLength(3);
  });

  it('409 surfaces at once', async () => {
    const { client, peer } = await setUp((_, response) => answerJson(response, 409, status(409, 'Conflict')));
    await expect(client.replace(pods, pod)).rejects.toMatchObject({ status: 409 });
    expect(peer.requests).toHaveLength(1);
  });

  it('a list of metadata asks for no more, and takes whole objects from a server that knows no better', async () => {
    const { client, peer } = await setUp((_, response) => answerJson(response, 200, { metadata: {}, items: [pod] }));
    const { items } = await client.list(metadataOf(pods));
    expect(items.map((item) => item.metadata.name)).toEqual(['step-1']);
    expect(peer.requests[0]?.headers.accept).toMatch(/as=PartialObjectMetadataList;.*,application\/json$/);
  });

  it('a continue token that expired midway restarts the list once', async () => {
    let pages = 0;
    const { client } = await setUp((request, response) => {
      pages += 1;
      if (request.query.get('continue') === 'old') return answerJson(response, 410, status(410, 'Expired'));
      if (pages === 1)
        return answerJson(response, 200, { metadata: { continue: 'old' }, items: [{ metadata: { name: 'stale' } }] });
      const last = request.query.get('continue') === 'new';
      const metadata = last ? { resourceVersion: '7' } : { continue: 'new', resourceVersion: '7' };
      return answerJson(response, 200, { metadata, items: [{ metadata: { name: last ? 'b' : 'a' } }] });
    });
    const list = await client.listAll(pods);
    expect(list.items.map((item) => item.metadata.name)).toEqual(['a', 'b']);
    expect(list.metadata.resourceVersion).toBe('7');
  });
});

describe('time limits', () => {
  it('no answer ends in a timeout that says for how long', async () => {
    const { client, reports } = await setUp(() => undefined);
    await expect(client.get(pods, ref, { timeoutMs: 60 })).rejects.toMatchObject({
      code: 'timeout',
      message: 'get pods team-a/step-1: no answer in 60 ms',
    });
    expect(reports).toMatchObject([{ verb: 'get', resource: 'pods', code: 'aborted' }]);
  });

  it('a write has a limit of its own, unless it says another', async () => {
    const { client } = await setUp(() => undefined, { writeTimeoutMs: 60 });
    await expect(client.create(pods, pod)).rejects.toMatchObject({ message: expect.stringContaining('in 60 ms') });
    await expect(client.create(pods, pod, { timeoutMs: 90 })).rejects.toMatchObject({
      message: expect.stringContaining('in 90 ms'),
    });
    await expect(client.get(pods, ref, { timeoutMs: 120 })).rejects.toMatchObject({
      message: expect.stringContaining('in 120 ms'),
    });
  });

  it('an answer that stops in its middle does too', async () => {
    const { client } = await setUp((_, response) => void response.writeHead(200).write('{"metadata"'));
    await expect(client.get(pods, ref, { timeoutMs: 60 })).rejects.toMatchObject({ code: 'timeout' });
  });

  it('the caller can cancel, and the connection pool still works afterwards', async () => {
    let silent = true;
    const { client } = await setUp((_, response) => (silent ? undefined : answerJson(response, 200, pod)));
    const stop = new AbortController();
    const call = client.get(pods, ref, { signal: stop.signal });
    setTimeout(() => stop.abort(), 20);
    await expect(call).rejects.toMatchObject({ code: 'cancelled' });
    silent = false;
    expect(await client.get(pods, ref)).toMatchObject(pod);
  });
});

describe('streams', () => {
  it('a watch gives events however they are cut, and ends when the server ends it', async () => {
    const events = [
      { type: 'ADDED', object: { metadata: { name: 'ä🙂', resourceVersion: '1' } } },
      { type: 'BOOKMARK', object: { metadata: { resourceVersion: '2' } } },
    ];
    const bytes = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    const { client, peer } = await setUp(async (_, response) => {
      for (const byte of bytes) response.write(Uint8Array.of(byte));
      response.end();
    });
    const seen = await drain(
      client.watch(pods, { resourceVersion: '0', allowWatchBookmarks: true, timeoutSeconds: 9 }),
    );
    expect(seen).toEqual(events);
    expect(peer.requests[0]?.query.toString()).toBe(
      'resourceVersion=0&allowWatchBookmarks=true&timeoutSeconds=9&watch=true',
    );
  });

  it.each(['not json\n', '"text"\n', '{"type":"NEWS","object":{}}\n', '{"type":"ADDED"}\n', '{"type":"ADDED","obj'])(
    'the line %j breaks a watch instead of passing through',
    async (line) => {
      const { client } = await setUp((_, response) => void response.end(line));
      await expect(drain(client.watch(pods, {}))).rejects.toMatchObject({ code: 'unavailable' });
    },
  );

  it('a reset throws, an abort ends quietly, a refusal is a KubeError', async () => {
    let answer: Answerer = (_, response) => response.writeHead(200).flushHeaders();
    const { client, peer } = await setUp((request, response) => answer(request, response));
    const broken = drain(client.watch(pods, {}));
    await new Promise((resolve) => setTimeout(resolve, 50));
    peer.resetConnections();
    await expect(broken).rejects.toMatchObject({ code: 'unavailable', reason: 'StreamBroken' });

    const stop = new AbortController();
    const aborted = drain(client.readLog(ref, { follow: true, signal: stop.signal }));
    setTimeout(() => stop.abort(), 50);
    expect(await aborted).toEqual([]);

    answer = (_, response) => answerJson(response, 410, status(410, 'Expired'));
    await expect(drain(client.watch(pods, {}))).rejects.toSatisfy(isGone);
  });

  it('a stream has no time limit once it has begun, but its beginning has', async () => {
    const clock = createManualClock();
    let late: ServerResponse | undefined;
    const { client, peer } = await setUp(
      (_, response) => {
        if (late !== undefined) return;
        late = response;
        response.writeHead(200).write('early,');
      },
      { clock },
    );
    const chunks: string[] = [];
    for await (const chunk of client.readLog(ref, { timeoutMs: 60 })) {
      chunks.push(Buffer.from(chunk).toString());
      await clock.advance(3_600_000);
      if (chunks.length === 1) late?.end('late');
    }
    expect(chunks).toEqual(['early,', 'late']);
    const silent = drain(client.readLog(ref, { timeoutMs: 60 }));
    silent.catch(() => undefined);
    await expect.poll(() => peer.requests.length).toBe(2);
    await clock.advance(60);
    await expect(silent).rejects.toMatchObject({ code: 'timeout' });
  });
});

describe('credentials', () => {
  it('a refused token is read again and the request sent once more', async () => {
    let token = 'old';
    const peer = await startHttpPeer((request, response) => {
      const good = request.headers.authorization === 'Bearer new';
      answerJson(response, good ? 200 : 401, good ? pod : status(401, 'Unauthorized'));
    });
    const credentials = createCredentialSource(
      async () => ({ server: peer.url, tls: {}, headers: { authorization: `Bearer ${token}` } }),
      { now: () => 0 },
    );
    const client = createKubeClient({ credentials, clock: systemClock });
    cleanups.push(
      () => peer.close(),
      () => client.close(),
    );
    await expect(client.get(pods, ref)).rejects.toMatchObject({ status: 401, code: 'unauthenticated' });
    expect(peer.requests).toHaveLength(2);
    token = 'new';
    expect(await client.create(pods, pod)).toMatchObject(pod);
    expect(peer.connections).toBeLessThanOrEqual(2);
  });

  it('are read again after a minute and not before; a failing read keeps the last ones', async () => {
    let reads = 0;
    let now = 0;
    const source = createCredentialSource(
      async () => {
        reads += 1;
        if (reads === 3) throw new Error('file is being replaced');
        return { server: 'http://x', tls: {}, headers: { authorization: `Bearer ${reads}` } };
      },
      { now: () => now },
    );
    const token = async () => (await source.current()).headers.authorization;
    expect(await token()).toBe('Bearer 1');
    now = 59_999;
    expect(await token()).toBe('Bearer 1');
    now = 60_000;
    expect(await Promise.all([token(), token()])).toEqual(['Bearer 2', 'Bearer 2']);
    now = 120_000;
    expect(await token()).toBe('Bearer 2');
    now = 180_000;
    expect(await token()).toBe('Bearer 4');
  });

  it('several groups to act as are several header lines', async () => {
    const { client, peer } = await setUp((_, response) => answerJson(response, 200, pod), {
      endpoint: (e) => ({ ...e, headers: { 'impersonate-user': 'u', 'impersonate-group': ['a', 'b'] } }),
    });
    await client.get(pods, ref);
    expect(peer.requests[0]?.headers['impersonate-group']).toBe('a, b');
  });
});

describe('the fence', () => {
  const boom = new AppError('lost_leadership', 'fenced');

  it('a closed fence sends no write and every read', async () => {
    const { client, peer } = await setUp((_, response) => answerJson(response, 200, pod));
    const fenced = withFence(client, () => {
      throw boom;
    });
    const writes: Promise<unknown>[] = [
      fenced.create(pods, pod),
      fenced.replace(pods, pod),
      fenced.replaceStatus(pods, pod),
      fenced.mergePatch(pods, ref, {}),
      fenced.mergePatchStatus(pods, ref, {}),
      fenced.strategicPatch(pods, ref, {}),
      fenced.jsonPatch(pods, ref, []),
      fenced.jsonPatchStatus(pods, ref, []),
      fenced.apply(pods, pod, { fieldManager: 'm' }),
      fenced.delete(pods, ref),
      fenced.deleteCollection(pods, {}),
    ];
    for (const write of writes) await expect(write).rejects.toBe(boom);
    expect(peer.requests).toHaveLength(0);
    await fenced.get(pods, ref);
    expect(peer.requests).toHaveLength(1);
  });

  it('a write that waits for a connection while the fence closes is never sent', async () => {
    let open = true;
    let release: () => void = () => undefined;
    const { client, peer } = await setUp(
      (_, response) =>
        new Promise<void>((resolve) => {
          release = () => {
            answerJson(response, 200, pod);
            resolve();
          };
        }),
      { maxRequests: 1 },
    );
    const fenced = withFence(client, () => {
      if (!open) throw boom;
    });
    const first = fenced.create(pods, pod);
    const second = fenced.create(pods, pod);
    await expect.poll(() => peer.requests.length).toBe(1);
    open = false;
    release();
    await first;
    await expect(second).rejects.toBe(boom);
    open = true;
    const third = fenced.create(pods, pod);
    await expect.poll(() => peer.requests.length).toBe(2);
    release();
    await third;
    expect(peer.connections).toBe(1);
  });

  it('a repetition asks again', async () => {
    let open = true;
    const { client, peer } = await setUp((_, response) => {
      open = false;
      response.setHeader('retry-after', '0');
      answerJson(response, 429, status(429, 'TooManyRequests'));
    });
    const fenced = withFence(client, () => {
      if (!open) throw boom;
    });
    await expect(fenced.create(pods, pod)).rejects.toBe(boom);
    expect(peer.requests).toHaveLength(1);
  });
});
