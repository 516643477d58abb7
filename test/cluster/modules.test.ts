import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ControllersConfig } from '../../controllers/config.ts';
import { runManager } from '../../controllers/manager.ts';
import { modules } from '../../controllers/modules.ts';
import { createMetrics } from '../../controllers/runtime/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { parseConfig } from '../../lib/config.ts';
import { newId } from '../../lib/ids.ts';
import { configMaps, customResourceDefinitions, type KubeClient } from '../../lib/kube/index.ts';
import { emptyNodeConfig } from '../../lib/node-config/index.ts';
import { silentLogger } from '../support/silent-logger.ts';
import { kubeconfigPath } from './harness/cluster.ts';
import { freePort } from './harness/free-port.ts';
import { projectDir } from './harness/project.ts';
import { openStage, type Stage } from './harness/stage.ts';
import { waitForObject } from './harness/wait.ts';
import { type Greeting, greetingDefinition, greetings } from './modules/greeting/kind.ts';
import { greetingModule, wordsLabel } from './modules/greeting/module.ts';

/** A kind of this test's own, in one folder and one line, beside the kinds that Windlass has. */
let stage: Stage;
let kube: KubeClient;
let namespace: string;

beforeAll(async () => {
  stage = await openStage('modules');
  ({ kube, namespace } = stage);
  await kube.create(customResourceDefinitions, greetingDefinition);
  const { name = '' } = greetingDefinition.metadata;
  await waitForObject(kube, { resource: customResourceDefinitions, name }, ({ status }) =>
    (status?.conditions ?? []).some((condition) => condition.type === 'Established' && condition.status === 'True'),
  );
}, 180_000);

afterAll(async () => {
  await kube?.delete(customResourceDefinitions, { name: greetingDefinition.metadata.name ?? '' });
  await stage?.strike();
}, 240_000);

const greet = (name: string) =>
  kube.create(greetings, {
    apiVersion: 'test.windlass.dev/v1',
    kind: 'Greeting',
    metadata: { namespace, name },
    spec: { name },
  });

const until = { timeout: 20_000 };

const says = (text: string) => (greeting: Greeting) => greeting.status?.text === text;

/** A manager in this process, which leads by the Lease of the test's own namespace. */
async function start(witness: Parameters<typeof greetingModule>[0]) {
  const port = await freePort();
  const stop = new AbortController();
  const config = parseConfig(ControllersConfig, {
    WINDLASS_RUNNER_IMAGE: 'windlass.local/runner:dev',
    WINDLASS_HTTP_PORT: String(port),
    WINDLASS_LEASE_NAMESPACE: namespace,
    WINDLASS_LOG_LEVEL: 'silent',
  });
  const code = runManager(
    {
      config,
      nodeConfig: emptyNodeConfig,
      kube,
      logger: silentLogger,
      metrics: createMetrics(),
      clock: systemClock,
      runtime: {
        stop: stop.signal,
        abandon: new AbortController().signal,
        breakOff: new AbortController().signal,
        requestStop: () => stop.abort(),
      },
      identity: `modules-${newId()}`,
      newId,
      onLoaded: () => undefined,
      keeper: {
        file: join(projectDir, 'controllers/runtime/keeper/thread.ts'),
        env: { ...process.env, KUBECONFIG: kubeconfigPath() },
      },
    },
    [...modules, greetingModule(witness)],
  );
  const page = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  return { code, page, stop: () => stop.abort() };
}

it('a kind of one folder and one line is reconciled, measured and stopped', { timeout: 120_000 }, async () => {
  const [led, gate]: [string[], { hold?: Promise<void> }] = [[], {}];
  const manager = await start({ led, held: async () => gate.hold });
  const at = (name: string) => ({ resource: greetings, namespace, name });

  await greet('ann');
  await waitForObject(kube, at('ann'), says('hello ann'));
  expect(led).toEqual(['began']);

  // Another cache of its own wakes it.
  await kube.create(configMaps, {
    metadata: { namespace, name: 'words', labels: { [wordsLabel]: '' } },
    data: { hello: 'salut' },
  });
  await waitForObject(kube, at('ann'), says('salut ann'));

  expect(await manager.page('/readyz')).toBe('ok\n');
  // The manager comes to rest when it has also reconciled what others left in the cluster.
  for (const line of [
    /^windlass_reconcile_seconds_count\{kind="Greeting",outcome="done"\} [1-9]/m,
    /^workqueue_queue_duration_seconds_count\{kind="Greeting"\} [1-9]/m,
    /^windlass_queue_oldest_seconds\{kind="Greeting"\} 0$/m,
    /^windlass_queue_oldest_seconds\{kind="WorkflowExecution"\} 0$/m,
  ]) {
    await expect.poll(() => manager.page('/metrics'), until).toMatch(line);
  }

  // A reconcile under way ends, what comes later is left for the next leader.
  const held = Promise.withResolvers<void>();
  gate.hold = held.promise;
  await greet('bob');
  await expect
    .poll(() => manager.page('/metrics'), until)
    .toMatch(/^workqueue_queue_duration_seconds_count\{kind="Greeting"\} [3-9]/m);
  manager.stop();
  await greet('cleo');
  held.resolve();
  expect(await manager.code).toBe(0);
  expect(led).toEqual(['began', 'ended']);
  expect(await kube.get(greetings, { namespace, name: 'bob' })).toMatchObject({ status: { text: 'salut bob' } });
  expect((await kube.get(greetings, { namespace, name: 'cleo' })).status).toBeUndefined();
});
