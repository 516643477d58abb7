import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ApiProxy, Verdict } from '../harness/api-proxy.ts';
import { apiPathOf, type Exchange, isWrite, type Verb, verbOf } from '../harness/exchange.ts';
import { isNativeCluster } from '../harness/cluster.ts';
import { projectDir } from '../harness/project.ts';
import { openStage, type Stage } from '../harness/stage.ts';
import { pause } from '../harness/wait.ts';
import type { WatchVerdict } from '../harness/watch-lines.ts';
import { endState } from './end-state.ts';
import { createReferenceRuns, type ReferenceRuns } from './reference-runs.ts';
import { references } from './reference-workflows.ts';

const run = promisify(execFile);

/** How long the API server is away; the requirement is two minutes, less is for working on the test itself. */
const outageSeconds = Number(process.env.WINDLASS_TEST_OUTAGE_SECONDS ?? 120);

const cluster = (script: string, ...args: string[]) => run(join(projectDir, 'dev', 'cluster', script), args);

/** Every nth call, starting with the nth: the same share of trouble in each run, spread over all kinds of calls. */
function everyNth(n: number): () => boolean {
  let count = 0;
  return () => ++count % n === 0;
}

/** Kinds of requests that are refused for every client, and the references that cannot end without them. */
interface Outage {
  readonly broken: readonly ((exchange: Exchange) => boolean)[];
  readonly status: number;
  readonly stops: readonly string[];
}

/** How long one kind of request stays refused once everything else has ended. */
const outageMs = 3_000;

const isRequest =
  (verb: Verb, resource: string, subresource?: string) =>
  (exchange: Exchange): boolean => {
    const at = apiPathOf(exchange.path);
    return verbOf(exchange) === verb && at?.resource === resource && at.subresource === subresource;
  };

const withPods = references.filter(({ pods }) => pods > 0).map(({ name }) => name);
const all = references.map(({ name }) => name);

const outages: Readonly<Record<string, Outage>> = {
  'pods cannot be created': { broken: [isRequest('create', 'pods')], status: 500, stops: withPods },
  'pods must not be created': { broken: [isRequest('create', 'pods')], status: 403, stops: withPods },
  'pods cannot be let go, outputs not stored, and children not made': {
    broken: [isRequest('patch', 'pods'), isRequest('create', 'configmaps'), isRequest('create', 'workflowexecutions')],
    status: 500,
    stops: ['big', 'parent'],
  },
  'no status can be written': {
    broken: [isRequest('patch', 'workflowexecutions', 'status')],
    status: 500,
    stops: all,
  },
};

describe('six reference workflows end as ever while the API misbehaves', () => {
  let stage: Stage;
  let proxy: ApiProxy;
  let runs: ReferenceRuns;
  let calm: Readonly<Record<string, unknown>>;

  beforeAll(async () => {
    stage = await openStage('api');
    proxy = await stage.proxy('api');
    await stage.controllers(proxy);
    runs = createReferenceRuns(stage.kube, stage.namespace);
    await runs.register();
    calm = await runs.runAll('calm');
  });

  afterEach(async () => {
    proxy.setRules({});
    await proxy.comeUp();
  });

  afterAll(() => stage?.strike());

  it('every watch event comes twice', async () => {
    proxy.setRules({ event: () => 'repeat' });
    proxy.breakConnections();
    expect(await runs.runAll('twice')).toEqual(calm);
  });

  it('watch events are lost on the way, and only the break of the connection tells', async () => {
    let lost = 0;
    const stop = new AbortController();
    const tunnel = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        proxy.setRules({
          event: () => {
            lost += 1;
            return 'drop';
          },
        });
        await pause(2_000);
        proxy.setRules({});
        proxy.breakConnections();
        await pause(1_500);
      }
    };
    const disturbing = tunnel();
    const ends = await runs.runAll('lost');
    stop.abort();
    await disturbing;
    expect(lost).toBeGreaterThan(0);
    expect(ends).toEqual(calm);
  });

  it('watch events are held up for 30 s', async () => {
    const held = new Set<number>();
    const started = Date.now();
    proxy.setRules({
      event: (exchange): WatchVerdict => {
        if (held.has(exchange.id) || Date.now() - started > 30_000) return 'send';
        held.add(exchange.id);
        return { delayMs: 30_000 - (Date.now() - started) };
      },
    });
    expect(await runs.runAll('late')).toEqual(calm);
    expect(held.size).toBeGreaterThan(0);
  });

  it('watches end with 410 again and again', async () => {
    const fourth = everyNth(4);
    let expired = 0;
    proxy.setRules({
      event: () => {
        if (!fourth()) return 'send';
        expired += 1;
        return 'expire';
      },
    });
    expect(await runs.runAll('expired')).toEqual(calm);
    expect(expired).toBeGreaterThan(3);
  });

  const troubles: Readonly<Record<string, (exchange: Exchange) => Verdict>> = {
    '429 with Retry-After': () => ({ status: 429, headers: { 'retry-after': '1' } }),
    '429 without Retry-After': () => ({ status: 429 }),
    '500': () => ({ status: 500 }),
    '503': () => ({ status: 503 }),
    'connection reset before the request arrives': () => 'reset',
  };

  it(`every fifth request, in turn: ${Object.keys(troubles).join(', ')}`, async () => {
    const fifth = everyNth(5);
    const kinds = Object.values(troubles);
    let count = 0;
    proxy.setRules({
      before: (exchange) => (fifth() ? (kinds[count++ % kinds.length] as (typeof kinds)[number])(exchange) : 'forward'),
    });
    proxy.breakConnections();
    expect(await runs.runAll('troubles')).toEqual(calm);
    expect(count).toBeGreaterThan(kinds.length);
  });

  it.each(Object.keys(outages))(
    '%s for a while: work without them continues, and the rest ends as ever',
    async (what) => {
      const { broken, status, stops } = outages[what] as Outage;
      const refusals = broken.map(() => 0);
      const fewest = (): number => Math.min(...refusals);
      proxy.setRules({
        before: (exchange) => {
          const kind = broken.findIndex((isBroken) => isBroken(exchange));
          if (kind === -1) return 'forward';
          refusals[kind] = (refusals[kind] ?? 0) + 1;
          return { status };
        },
      });
      const prefix = `outage-${Object.keys(outages).indexOf(what)}`;
      const ending = references.map(async (reference) => {
        const ended = await runs.run(reference, `${prefix}-${reference.name}`);
        return [reference.name, endState(ended)] as const;
      });
      await Promise.all(ending.filter((_run, i) => !stops.includes(references[i]?.name ?? '')));
      await expect.poll(fewest, { timeout: 20_000 }).toBeGreaterThan(0);
      await pause(outageMs);
      const tried = Math.max(...refusals);
      proxy.setRules({});
      expect(Object.fromEntries(await Promise.all(ending))).toEqual(calm);
      // Each that is refused is tried again with pauses that double.
      expect(tried).toBeLessThan(100);
    },
  );

  it('connection reset after every third write has taken effect', async () => {
    const third = everyNth(3);
    proxy.setRules({ after: (exchange) => (isWrite(exchange) && third() ? 'reset' : 'send') });
    expect(await runs.runAll('unheard')).toEqual(calm);
  });

  it(`the API server is away for ${outageSeconds} s`, { timeout: (outageSeconds + 180) * 1000 }, async () => {
    const ending = runs.runAll('away', (outageSeconds + 120) * 1000);
    // With some pods made and nothing finished: the outcomes come about while no status can be written.
    await pause(800);
    await proxy.goDown();
    await pause(outageSeconds * 1000);
    await proxy.comeUp();
    expect(await ending).toEqual(calm);
  });

  it.skipIf(!isNativeCluster())('etcd is compacted and the API server restarts', async () => {
    const ending = runs.runAll('compacted', 150_000);
    ending.catch(() => undefined);
    await pause(1_000);
    await cluster('etcd', 'compact');
    await cluster('apiserver', 'restart');
    expect(await ending).toEqual(calm);
  });
});
