import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerJson, type HttpPeer, type ReceivedRequest, startHttpPeer } from '../../test/support/http-peer.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { systemClock } from '../clock.ts';
import { TerminalError } from '../errors.ts';
import {
  createCredentialSource,
  createKubeClient,
  type KubeClient,
  type KubeObject,
  type Pod,
  pods,
} from '../kube/index.ts';
import { createInformer, type Informer, type InformerChange } from './informer.ts';
import { createReflector } from './reflector.ts';
import { createWholeObjects } from './whole-objects.ts';

/** Answers lists and watches as each test says; what it serves is only what the test put there. */
interface Script {
  list: (request: ReceivedRequest, response: ServerResponse) => void;
  watch: (request: ReceivedRequest, response: ServerResponse) => void;
}

let peer: HttpPeer;
let client: KubeClient;
let stop: AbortController;
let script: Script;
let running: Promise<void>[];

beforeEach(async () => {
  stop = new AbortController();
  running = [];
  script = {
    list: (_, response) => answerJson(response, 200, { metadata: { resourceVersion: '10' }, items: [] }),
    watch: (_, response) => response.writeHead(200).flushHeaders(),
  };
  peer = await startHttpPeer((request, response) =>
    script[request.query.has('watch') ? 'watch' : 'list'](request, response),
  );
  const credentials = createCredentialSource(async () => ({ server: peer.url, tls: {}, headers: {} }), {
    now: Date.now,
  });
  client = createKubeClient({ credentials, clock: systemClock });
});
afterEach(async () => {
  stop.abort();
  await Promise.all(running);
  await client.close();
  await peer.close();
});

const pod = (name: string, version: number, rest: object = {}): Pod => ({
  metadata: { namespace: 'a', name, uid: `uid-${name}`, resourceVersion: String(version), ...rest },
  spec: { containers: [] },
});
/** As the API server writes it: names first. */
const watchLine = (type: string, object: Pod) => line(type, { apiVersion: 'v1', kind: 'Pod', ...object });
const line = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;

interface Seen {
  readonly informer: Informer<Pod>;
  readonly changes: InformerChange<Pod>[];
  readonly failures: string[];
  sinkFailures: number;
}

function follow(options: { parse?: (pod: Pod) => Pod; onChange?: (change: InformerChange<Pod>) => void } = {}): Seen {
  const failures: string[] = [];
  const seen = { changes: [] as InformerChange<Pod>[], failures, sinkFailures: 0 };
  const observer = {
    failed: (reason: string) => void failures.push(reason),
    sinkFailed: () => {
      seen.sinkFailures += 1;
    },
  };
  const deps = { client, clock: systemClock, logger: silentLogger, random: () => 0.01, observer };
  const informer = createInformer<Pod>(deps, { resource: pods, labelSelector: 'l', parse: options.parse });
  informer.onChange((change) => {
    seen.changes.push(change);
    options.onChange?.(change);
  });
  running.push(informer.run(stop.signal));
  return Object.assign(seen, { informer });
}

const watches = () => peer.requests.filter((request) => request.query.has('watch'));
const lists = () => peer.requests.filter((request) => !request.query.has('watch'));
const names = (seen: Seen) => [...seen.informer.cache.values()].map((object) => object.metadata.name ?? '').toSorted();

describe('listing', () => {
  it('reads page after page and then watches from the version of the list, with bookmarks and a time limit', async () => {
    script.list = (request, response) => {
      const page = request.query.get('continue');
      if (page === null)
        return answerJson(response, 200, { metadata: { continue: 'p2', resourceVersion: '10' }, items: [pod('x', 3)] });
      return answerJson(response, 200, { metadata: { resourceVersion: '10' }, items: [pod('y', 4)] });
    };
    const seen = follow();
    await seen.informer.synced;
    expect(names(seen)).toEqual(['x', 'y']);
    expect(lists().map((request) => request.query.get('limit'))).toEqual(['50', '100']);
    await expect.poll(() => watches().length).toBe(1);
    const query = watches()[0]?.query;
    expect(query?.get('resourceVersion')).toBe('10');
    expect(query?.get('allowWatchBookmarks')).toBe('true');
    expect(query?.get('labelSelector')).toBe('l');
    expect(query?.has('sendInitialEvents')).toBe(false);
    expect(Number(query?.get('timeoutSeconds'))).toBeGreaterThanOrEqual(290);
    expect(Number(query?.get('timeoutSeconds'))).toBeLessThanOrEqual(590);
  });

  it('a continue token that expired starts the list again', async () => {
    let first = true;
    script.list = (request, response) => {
      if (request.query.has('continue')) {
        first = false;
        return answerJson(response, 410, { reason: 'Expired' });
      }
      const metadata = first ? { continue: 'p2', resourceVersion: '10' } : { resourceVersion: '11' };
      return answerJson(response, 200, { metadata, items: [pod('x', 3)] });
    };
    const seen = follow();
    await seen.informer.synced;
    expect(names(seen)).toEqual(['x']);
    expect(seen.failures).toEqual(['Expired']);
  });

  it('is not synced before the whole list is there', async () => {
    let answerPage: (() => void) | undefined;
    script.list = (request, response) => {
      if (!request.query.has('continue'))
        return answerJson(response, 200, { metadata: { continue: 'p2' }, items: [pod('x', 3)] });
      answerPage = () => answerJson(response, 200, { metadata: { resourceVersion: '10' }, items: [] });
    };
    const seen = follow();
    await expect.poll(() => answerPage).toBeDefined();
    expect(seen.informer.hasSynced).toBe(false);
    expect(seen.changes).toEqual([]);
    answerPage?.();
    await seen.informer.synced;
    expect(seen.informer.hasSynced).toBe(true);
  });
});

describe('watching', () => {
  it('applies events, and bookmarks move the version without one', async () => {
    let streams = 0;
    script.watch = (_, response) => {
      streams += 1;
      response.writeHead(200).flushHeaders();
      if (streams > 1) return;
      response.write(line('ADDED', pod('x', 11)) + line('MODIFIED', pod('x', 12)) + line('ADDED', pod('y', 13)));
      response.end(line('DELETED', pod('y', 14)) + line('BOOKMARK', { metadata: { resourceVersion: '99' } }));
    };
    const seen = follow();
    await expect.poll(() => watches().length).toBe(2);
    expect(names(seen)).toEqual(['x']);
    expect(seen.changes.map(({ key, after }) => [key, after?.metadata.resourceVersion])).toEqual([
      ['a/x', '11'],
      ['a/x', '12'],
      ['a/y', '13'],
      ['a/y', undefined],
    ]);
    expect(watches()[1]?.query.get('resourceVersion')).toBe('99');
    expect(lists()).toHaveLength(1);
  });

  const faults: Record<string, { fault: (response: ServerResponse) => void; reason: string; relists: boolean }> = {
    'a reset connection': { fault: (r) => void r.socket?.resetAndDestroy(), reason: 'StreamBroken', relists: false },
    'a line of garbage': { fault: (r) => void r.end('<html>\n'), reason: 'StreamBroken', relists: false },
    'half an event': { fault: (r) => void r.end('{"type":"ADDED","obj'), reason: 'StreamBroken', relists: false },
    'an error in the stream': {
      fault: (r) => void r.end(line('ERROR', { code: 500, reason: 'InternalError' })),
      reason: 'InternalError',
      relists: false,
    },
    '410 in the stream': {
      fault: (r) => void r.end(line('ERROR', { code: 410, reason: 'Expired' })),
      reason: 'Expired',
      relists: true,
    },
  };
  it.each(Object.entries(faults))(
    '%s is survived without losing or repeating a change',
    async (_, { fault, reason, relists }) => {
      let streams = 0;
      script.list = (__, response) =>
        answerJson(response, 200, {
          metadata: { resourceVersion: streams === 0 ? '10' : '12' },
          items: streams === 0 ? [pod('x', 9)] : [pod('x', 9), pod('y', 11)],
        });
      script.watch = (__, response) => {
        streams += 1;
        response.writeHead(200).flushHeaders();
        if (streams === 1) {
          response.write(line('ADDED', pod('y', 11)));
          setTimeout(() => fault(response), 20);
        } else response.write(line('ADDED', pod('z', 13)));
      };
      const seen = follow();
      await expect.poll(() => names(seen)).toEqual(['x', 'y', 'z']);
      expect(seen.failures).toEqual([reason]);
      expect(lists()).toHaveLength(relists ? 2 : 1);
      expect(watches()[1]?.query.get('resourceVersion')).toBe(relists ? '12' : '11');
      expect(seen.changes.map(({ key }) => key)).toEqual(['a/x', 'a/y', 'a/z']);
    },
  );

  it('an HTTP status of 410 lists anew, and changes missed meanwhile are reported', async () => {
    let watchesSoFar = 0;
    let listed = 0;
    script.list = (_, response) => {
      listed += 1;
      answerJson(response, 200, {
        metadata: { resourceVersion: String(listed * 10) },
        items: listed === 1 ? [pod('x', 9)] : [pod('y', 15)],
      });
    };
    script.watch = (_, response) => {
      watchesSoFar += 1;
      if (watchesSoFar === 1) answerJson(response, 410, { reason: 'Gone' });
      else response.writeHead(200).flushHeaders();
    };
    const seen = follow();
    await expect.poll(() => names(seen)).toEqual(['y']);
    expect(seen.changes.map(({ key, after }) => [key, after !== undefined])).toEqual([
      ['a/x', true],
      ['a/x', false],
      ['a/y', true],
    ]);
  });

  it('events that come twice or late change nothing', async () => {
    script.watch = (_, response) => {
      response.writeHead(200);
      response.write(line('ADDED', pod('x', 12)) + line('ADDED', pod('x', 12)) + line('MODIFIED', pod('x', 11)));
      response.write(line('ADDED', pod('y', 13)));
    };
    const seen = follow();
    await expect.poll(() => names(seen)).toEqual(['x', 'y']);
    expect(seen.changes).toHaveLength(2);
    expect(seen.informer.cache.get('a/x')?.metadata.resourceVersion).toBe('12');
  });

  it('a handler that throws stops neither the stream nor other handlers', async () => {
    script.watch = (_, response) =>
      void response.writeHead(200).write(line('ADDED', pod('x', 11)) + line('ADDED', pod('y', 12)));
    const others: string[] = [];
    const seen = follow({
      onChange: () => {
        throw new Error('boom');
      },
    });
    seen.informer.onChange(({ key }) => others.push(key));
    await expect.poll(() => others).toEqual(['a/x', 'a/y']);
    expect(seen.sinkFailures).toBe(2);
    expect(watches()).toHaveLength(1);
  });

  it('a server that is away is asked ever more rarely, and soon again once it is back', async () => {
    const pauses: number[] = [];
    const manual = createManualClock();
    const clock = {
      now: () => manual.now(),
      steadyMs: () => manual.steadyMs(),
      sleep: async (ms: number, signal?: AbortSignal) => {
        if (pauses.length >= 9) return manual.sleep(ms, signal);
        pauses.push(ms);
      },
    };
    script.list = (_, response) => {
      if (pauses.length < 9) answerJson(response, 503, { reason: 'ServiceUnavailable' });
      else answerJson(response, 200, { metadata: { resourceVersion: '10' }, items: [] });
    };
    const sink = {
      page: (items: readonly Pod[]) => items,
      replaceAll: () => undefined,
      apply: () => undefined,
      held: () => [],
    };
    const deps = { client, clock, logger: silentLogger, random: () => 0.5 };
    const reflector = createReflector<Pod>(deps, { resource: pods, sink });
    running.push(reflector.run(stop.signal));
    await reflector.synced;
    expect(pauses).toEqual([125, 250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
  });

  it('a connection that went silent is given up: after its time, or two and a half minutes once bookmarks came', async () => {
    const clock = createManualClock();
    const bookmark = line('BOOKMARK', { metadata: { resourceVersion: '11' } });
    let streams = 0;
    script.watch = (_, response) => {
      streams += 1;
      response.writeHead(200).flushHeaders();
      if (streams === 2) response.write(bookmark);
    };
    const applied: string[] = [];
    const sink = {
      page: (items: readonly Pod[]) => items,
      replaceAll: () => undefined,
      apply: (event: { type: string }) => void applied.push(event.type),
      held: () => [],
    };
    const failures: string[] = [];
    const observer = { failed: (reason: string) => void failures.push(reason), sinkFailed: () => undefined };
    const deps = { client, clock, logger: silentLogger, random: () => 0, observer };
    running.push(createReflector<Pod>(deps, { resource: pods, sink }).run(stop.signal));
    await expect.poll(() => streams).toBe(1);
    await clock.advance(319_000);
    expect(failures).toEqual([]);
    await clock.advance(1_000);
    await expect.poll(() => failures).toEqual(['WatchSilent']);
    await expect.poll(() => applied).toEqual(['BOOKMARK']);
    await clock.advance(320_000);
    await expect.poll(() => streams).toBe(3);
    expect(failures).toEqual(['WatchSilent', 'WatchSilent']);
  });

  it('an abort ends it, in the middle of a stream and of a pause', async () => {
    const seen = follow();
    await expect.poll(() => watches().length).toBe(1);
    script.list = (_, response) => answerJson(response, 500, {});
    const second = follow();
    await expect.poll(() => second.failures.length).toBeGreaterThan(0);
    stop.abort();
    await Promise.all(running);
    expect(seen.failures).toEqual([]);
  });
});

describe('a poison object', () => {
  const parse = (object: Pod): Pod => {
    if (object.metadata.labels?.poison) throw new TerminalError('Unreadable', 'spec.x is no number');
    return object;
  };
  const poison = (name: string, version: number) => pod(name, version, { labels: { poison: 'yes' } });
  /** By the last event of each key. */
  const unreadable = ({ changes }: Seen) => {
    const last = new Map(changes.map(({ key, invalid }) => [key, invalid]));
    return [...last].filter(([, invalid]) => invalid !== undefined).map(([key]) => key);
  };

  it('is kept apart and reported; the others continue, and it may recover or be deleted', async () => {
    let response: ServerResponse | undefined;
    script.list = (_, answer) =>
      answerJson(answer, 200, { metadata: { resourceVersion: '10' }, items: [poison('p', 2), pod('x', 3)] });
    script.watch = (_, answer) => {
      response = answer.writeHead(200);
      response.flushHeaders();
    };
    const seen = follow({ parse });
    await seen.informer.synced;
    expect(names(seen)).toEqual(['x']);
    const { invalid } = seen.changes.find(({ key }) => key === 'a/p') ?? {};
    expect(invalid).toMatchObject({ problem: 'spec.x is no number', key: 'a/p' });
    expect(unreadable(seen)).toEqual(['a/p']);

    await expect.poll(() => response).toBeDefined();
    response?.write(line('MODIFIED', poison('x', 11)) + line('ADDED', pod('y', 12)) + line('MODIFIED', pod('p', 13)));
    await expect.poll(() => names(seen)).toEqual(['p', 'y']);
    expect(unreadable(seen)).toEqual(['a/x']);
    response?.write(line('DELETED', poison('x', 14)));
    await expect.poll(() => unreadable(seen)).toEqual([]);
    const last = seen.changes.at(-1);
    expect([last?.key, last?.after, last?.invalid]).toEqual(['a/x', undefined, undefined]);
    expect(seen.failures).toEqual([]);
    expect(seen.sinkFailures).toBe(0);
  });

  it('of a list that broke off is forgotten with it, when it recovers or is deleted before the next', async () => {
    let attempts = 0;
    script.list = (request, answer) => {
      if (request.query.has('continue')) return answerJson(answer, 503, {});
      attempts += 1;
      const [items, more] =
        attempts === 1 ? [[poison('p', 2), poison('q', 3)], { continue: 'p2' }] : [[pod('p', 8)], {}];
      answerJson(answer, 200, { metadata: { resourceVersion: '10', ...more }, items });
    };
    const seen = follow({ parse });
    await seen.informer.synced;
    expect(seen.failures).toHaveLength(1);
    expect(names(seen)).toEqual(['p']);
    expect(seen.changes).toMatchObject([{ key: 'a/p', after: { metadata: { resourceVersion: '8' } } }]);
    expect(unreadable(seen)).toEqual([]);
  });

  it('a parser that breaks in an unforeseen way does no more harm, and is counted', async () => {
    script.list = (_, answer) =>
      answerJson(answer, 200, { metadata: { resourceVersion: '10' }, items: [pod('p', 2), pod('x', 3)] });
    const seen = follow({
      parse: (object) => {
        if (object.metadata.name === 'p') throw new RangeError('boom');
        return object;
      },
    });
    await seen.informer.synced;
    expect(names(seen)).toEqual(['x']);
    expect(seen.sinkFailures).toBe(1);
  });
});

it('objects are stripped of what is noted about them before they are kept, our own writes as well', async () => {
  const notes = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', mine: 'kept' };
  const owned = { managedFields: [{ manager: 'kubectl' }], annotations: notes };
  script.list = (_, response) =>
    answerJson(response, 200, { metadata: { resourceVersion: '10' }, items: [pod('x', 3, owned)] });
  const seen = follow();
  await seen.informer.synced;
  seen.informer.cache.remember(pod('y', 11, owned));
  const kept: KubeObject[] = [...seen.informer.cache.values()];
  expect(kept.map(({ metadata }) => metadata.managedFields)).toEqual([undefined, undefined]);
  expect(kept.map(({ metadata }) => metadata.annotations)).toEqual([{ mine: 'kept' }, { mine: 'kept' }]);
});

describe('our own writes of large objects', () => {
  const large = (version: number, mine = 'x'): Pod => pod('x', version, { labels: { mine }, annotations: { rest } });
  const rest = 'r'.repeat(20_000);

  it('are not read again when the watch brings them; those of others are, and so is all where the kind does not spare them', async () => {
    let stream: ServerResponse | undefined;
    script.watch = (_, response) => {
      stream = response;
      response.writeHead(200).flushHeaders();
    };
    const read: string[] = [];
    const parse = (object: Pod): Pod => {
      read.push(object.metadata.resourceVersion ?? '');
      return object;
    };
    const deps = { client, clock: systemClock, logger: silentLogger, random: () => 0.01 };
    for (const sparesOwn of [true, false]) {
      const informer = createInformer<Pod>(deps, { resource: pods, parse, sparesOwn });
      const changes: InformerChange<Pod>[] = [];
      informer.onChange((change) => changes.push(change));
      running.push(informer.run(stop.signal));
      await informer.synced;
      await expect.poll(() => stream).toBeDefined();
      informer.cache.remember(large(11));
      // The second one says in a text what an own write would say.
      const stranger = large(12, '},"metadata":{"namespace":"a","name":"x","resourceVersion":"11"}');
      for (const object of [large(11), stranger]) stream?.write(watchLine('MODIFIED', object));
      await expect.poll(() => changes.length).toBe(2);
      expect(changes).toMatchObject([
        { own: true, after: { metadata: { resourceVersion: '11', labels: { mine: 'x' } } } },
        { own: false, after: { metadata: { resourceVersion: '12' } } },
      ]);
      expect(read.splice(0)).toEqual(sparesOwn ? ['12'] : ['11', '12']);
      stream = undefined;
    }
  });
});

it('an object of the cache that is remembered again is still read in full', async () => {
  const large = (name: string, version: number): Pod =>
    pod(name, version, { annotations: { mine: 'x'.repeat(3_000) } });
  const slim = ({ metadata: { annotations: _annotations, ...metadata }, ...rest }: Pod): Pod => ({ ...rest, metadata });
  script.list = ({ path }, response) => {
    if (path.endsWith('/x')) return answerJson(response, 200, large('x', 3));
    answerJson(response, 200, { metadata: { resourceVersion: '10' }, items: [large('x', 3), large('y', 4)] });
  };
  // Room for one of them: the second one takes the place of the first.
  const wholes = createWholeObjects({ kube: client, clock: systemClock, resource: pods, slim, keptBytes: 5_000 });
  const deps = { client, clock: systemClock, logger: silentLogger, random: () => 0.01 };
  const informer = createInformer<Pod>(deps, { resource: pods, wholes });
  running.push(informer.run(stop.signal));
  await informer.synced;
  const held = informer.cache.get('a/x') ?? pod('none', 1);
  informer.cache.remember(held);
  expect((await informer.whole(held))?.metadata.annotations?.['mine']).toHaveLength(3_000);
});
