import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anEnd, anUpdate, aWorkflow, busybox } from '../../builders/workflow-builder.ts';
import type { ApiProxy } from '../harness/api-proxy.ts';
import { apiPathOf, type Exchange, isLease, verbOf } from '../harness/exchange.ts';
import { ensureWorkflow, startExecution, waitUntilFinished } from '../harness/executions.ts';
import { openStage, type Stage } from '../harness/stage.ts';
import { makeTestNamespace, type TestNamespace } from '../harness/test-namespace.ts';
import { pause } from '../harness/wait.ts';

/**
 * The attacker has an admission webhook that never answers, or reaches one, so that every pod of theirs is created for as
 * long as a request may last. They start one execution of fifty parallel steps.
 */
const steps = 50;
/** Longer than a Lease lasts. */
const hangMs = 22_000;
/** Requests that one namespace may have under way at once: four fifths of 40 (lib/kube/request-shares.ts). */
const share = 32;

const parallel = aWorkflow('parallel')
  .state('all', {
    kind: 'ParallelContainerRun',
    steps: Array.from({ length: steps }, (_, i) => ({ name: `s${i}`, image: busybox, command: ['true'] })),
    transitions: [],
  })
  .build();

const podless = aWorkflow('podless')
  .state('one', anUpdate({ a: '1' }, 'two'))
  .state('two', anUpdate({ b: '2' }, 'end'))
  .state('end', anEnd())
  .build();

describe('fifty creates of one tenant that hang', () => {
  let stage: Stage;
  let proxy: ApiProxy;
  let quiet: TestNamespace;
  let hanging = 0;
  let most = 0;
  const release = Promise.withResolvers<void>();

  beforeAll(async () => {
    stage = await openStage('hanging');
    quiet = await makeTestNamespace(stage.kube, 'quiet');
    proxy = await stage.proxy('api');
    await ensureWorkflow(stage.kube, { ...parallel, metadata: { ...parallel.metadata, namespace: stage.namespace } });
    await ensureWorkflow(stage.kube, { ...podless, metadata: { ...podless.metadata, namespace: quiet.name } });
    const { namespace, name } = stage.lease;
    await stage.controllers(proxy, {
      WINDLASS_LEADER_ELECT: 'true',
      WINDLASS_LEASE_NAMESPACE: namespace,
      WINDLASS_LEASE_NAME: name,
    });
  });

  afterAll(async () => {
    release.resolve();
    await quiet?.remove();
    await stage?.strike();
  });

  /** Milliseconds from the create to the end of an execution without a process. */
  async function run(name: string): Promise<number> {
    const begun = performance.now();
    const ref = { namespace: quiet.name, name };
    await startExecution(stage.kube, ref, { workflow: 'podless' });
    await waitUntilFinished(stage.kube, ref);
    return performance.now() - begun;
  }

  async function median(purpose: string): Promise<number> {
    const times: number[] = [];
    for (let i = 0; i < 7; i++) times.push(await run(`${purpose}-${i}`));
    return times.toSorted((a, b) => a - b)[3] ?? Number.NaN;
  }

  const isHangingCreate = (exchange: Exchange): boolean => {
    const { resource, namespace } = apiPathOf(exchange.path) ?? {};
    return verbOf(exchange) === 'create' && resource === 'pods' && namespace === stage.namespace;
  };

  /** The longest time between two renewals of the Lease. */
  function longestGapMs(exchanges: readonly Exchange[], since: number): number {
    const renewals = exchanges.filter((exchange) => isLease(exchange) && exchange.arrivedAt >= since);
    const times = [since, ...renewals.map(({ arrivedAt }) => arrivedAt), Date.now()];
    return Math.max(...times.slice(1).map((time, i) => time - (times[i] ?? time)));
  }

  it('cost neither the Lease nor another tenant anything', async () => {
    await run('first');
    const alone = await median('alone');
    const since = Date.now();
    proxy.setRules({
      async before(exchange) {
        if (!isHangingCreate(exchange)) return 'forward';
        hanging += 1;
        most = Math.max(most, hanging);
        await Promise.race([release.promise, pause(hangMs)]);
        hanging -= 1;
        return { status: 504 };
      },
    });
    await startExecution(stage.kube, { namespace: stage.namespace, name: 'greedy' }, { workflow: 'parallel' });
    await expect.poll(() => hanging, { timeout: 20_000 }).toBe(share);
    const beside = await median('beside');
    await pause(Math.max(0, since + hangMs - Date.now()));
    const gapMs = longestGapMs(proxy.exchanges, since);
    console.log(`alone ${Math.round(alone)} ms, beside ${Math.round(beside)} ms, Lease renewed every ${gapMs} ms`);
    expect(most).toBe(share);
    // Every two seconds, on a machine with other work.
    expect(gapMs).toBeLessThan(6_000);
    expect(beside).toBeLessThan(Math.max(1_000, 5 * alone));
  });
});
