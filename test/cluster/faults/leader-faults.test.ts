import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aWorkflow, busybox } from '../../builders/workflow-builder.ts';
import type { ApiProxy } from '../harness/api-proxy.ts';
import type { Controllers } from '../harness/controllers.ts';
import { apiPathOf, describe as nameOf, type Exchange, isLease, isWrite, verbOf } from '../harness/exchange.ts';
import { ensureWorkflow, startExecution, waitUntilFinished } from '../harness/executions.ts';
import { openPodLedger, type PodLedger } from '../harness/pod-ledger.ts';
import { openStage, type Stage } from '../harness/stage.ts';
import { makeTestNamespace } from '../harness/test-namespace.ts';
import { pause, waitForObject } from '../harness/wait.ts';
import { leases } from '../../../lib/kube/index.ts';
import { createReferenceRuns, type ReferenceRuns } from './reference-runs.ts';

const pausedSeconds = 40;

/** More than the creates of pods that one namespace may have under way at once (lib/kube/request-shares.ts). */
const stepsOfWide = 40;
const share = 32;

const wide = aWorkflow('wide')
  .state('all', {
    kind: 'ParallelContainerRun',
    steps: Array.from({ length: stepsOfWide }, (_, i) => ({ name: `s${i}`, image: busybox, command: ['true'] })),
    transitions: [],
  })
  .build();

/** Lets every create of a pod of one namespace hang, as an admission webhook would that never answers. */
function hangCreates(proxy: ApiProxy, namespace: string) {
  const release = Promise.withResolvers<void>();
  let hanging = 0;
  proxy.setRules({
    async before(exchange) {
      const at = apiPathOf(exchange.path);
      if (verbOf(exchange) !== 'create' || at?.resource !== 'pods' || at.namespace !== namespace) return 'forward';
      hanging += 1;
      await release.promise;
      hanging -= 1;
      return { status: 504 };
    },
  });
  const letGo = (): void => {
    proxy.setRules({});
    release.resolve();
  };
  return { count: () => hanging, letGo };
}

interface Replica {
  readonly proxy: ApiProxy;
  readonly controllers: Controllers;
  readonly podName: string;
}

describe('two replicas elect a leader and lose nothing when they are lost', () => {
  let stage: Stage;
  let runs: ReferenceRuns;
  let ledger: PodLedger;
  let calm: Readonly<Record<string, unknown>>;
  let replicas: Replica[] = [];
  let count = 0;

  beforeAll(async () => {
    stage = await openStage('leader');
    ledger = await openPodLedger(stage.kube, stage.namespace);
    runs = createReferenceRuns(stage.kube, stage.namespace);
    replicas = [await startReplica(), await startReplica()];
    await runs.register();
    calm = await runs.runAll('calm');
  });

  afterAll(async () => {
    await ledger?.stop();
    await stage?.strike();
  });

  /** Each replica has a proxy of its own, so that its requests differ from the other's. */
  async function startReplica(): Promise<Replica> {
    const podName = `replica-${++count}`;
    const proxy = await stage.proxy(podName);
    const controllers = await stage.controllers(proxy, {
      WINDLASS_LEADER_ELECT: 'true',
      WINDLASS_LEASE_NAMESPACE: stage.lease.namespace,
      WINDLASS_LEASE_NAME: stage.lease.name,
      WINDLASS_POD_NAME: podName,
    });
    return { proxy, controllers, podName };
  }

  const lease = () => ({ resource: leases, ...stage.lease });

  async function leader(): Promise<Replica> {
    const { spec } = await stage.kube.get(leases, lease());
    const found = replicas.find(({ podName }) => spec?.holderIdentity?.startsWith(`${podName}-`));
    if (found === undefined) throw new Error(`an unknown holder has the lease: ${spec?.holderIdentity}`);
    return found;
  }

  it('only the leader writes', async () => {
    const leading = await leader();
    const standby = replicas.find((replica) => replica !== leading);
    expect(standby?.proxy.exchanges.filter((exchange) => isWrite(exchange) && !isLease(exchange)).map(nameOf)).toEqual(
      [],
    );
  });

  it('both replicas are killed and two new ones finish the work', { timeout: 240_000 }, async () => {
    const ending = runs.runAll('killed', 200_000);
    await pause(1_500);
    await Promise.all(replicas.map(({ controllers }) => controllers.kill()));
    replicas = [await startReplica(), await startReplica()];
    expect(await ending).toEqual(calm);
    expect(ledger.duplicates()).toEqual([]);
  });

  it('a replica that takes over with a full request pool keeps the Lease and loses nothing', {
    timeout: 300_000,
  }, async () => {
    const greedy = await makeTestNamespace(stage.kube, 'greedy');
    const greedyPods = await openPodLedger(stage.kube, greedy.name);
    const hanging = replicas.map(({ proxy }) => hangCreates(proxy, greedy.name));
    await ensureWorkflow(stage.kube, { ...wide, metadata: { ...wide.metadata, namespace: greedy.name } });
    const ref = { namespace: greedy.name, name: 'wide' };
    await startExecution(stage.kube, ref, { workflow: 'wide' });
    const old = await leader();
    const heir = replicas.find((replica) => replica !== old) as Replica;
    await expect.poll(() => hanging[replicas.indexOf(old)]?.count(), { timeout: 20_000 }).toBe(share);
    const ending = runs.runAll('full', 200_000);
    await pause(1_500);
    await old.controllers.kill();
    await expect.poll(() => hanging[replicas.indexOf(heir)]?.count(), { timeout: 60_000 }).toBe(share);
    const since = Date.now();
    expect(await ending).toEqual(calm);
    replicas = [heir, await startReplica()];
    // Longer than a Lease lasts without being renewed.
    await pause(Math.max(0, since + 16_000 - Date.now()));
    expect((await leader()).podName).toBe(heir.podName);
    for (const creates of hanging) creates.letGo();
    expect((await waitUntilFinished(stage.kube, ref, { timeoutMs: 120_000 })).status?.phase).toBe('completed');
    expect([...ledger.duplicates(), ...greedyPods.duplicates()]).toEqual([]);
    expect(greedyPods.of('wide')).toHaveLength(stepsOfWide);
    await greedyPods.stop();
    await greedy.remove();
  });

  it(`a leader that is stopped for ${pausedSeconds} s and resumed writes nothing stale`, {
    timeout: 300_000,
  }, async () => {
    const old = await leader();
    const ending = runs.runAll('stopped', 200_000);
    // In the midst of its work: reconciles are under way whose writes are still to come.
    await pause(1_500);
    old.controllers.signal('SIGSTOP');
    const stoppedAt = Date.now();
    const other = replicas.find((replica) => replica !== old);
    await waitForObject(
      stage.kube,
      lease(),
      ({ spec }) => spec?.holderIdentity?.startsWith(`${other?.podName}-`) === true,
      { timeoutMs: 60_000, what: 'the other replica leads' },
    );
    const more = runs.runAll('meanwhile', 200_000);
    await pause(stoppedAt + pausedSeconds * 1000 - Date.now());
    const late: Exchange[] = [];
    old.proxy.setRules({
      before: (exchange) => {
        if (isWrite(exchange) && !isLease(exchange)) late.push(exchange);
        return 'forward';
      },
    });
    old.controllers.signal('SIGCONT');
    expect(await ending).toEqual(calm);
    expect(await more).toEqual(calm);
    await pause(5_000);
    // Bytes in a socket's buffer at the stop would be one exception; the proxy has read all of them long ago.
    expect(late.map(nameOf)).toEqual([]);
    expect(ledger.duplicates()).toEqual([]);
    expect((await leader()).podName).toBe(other?.podName);
  });
});
