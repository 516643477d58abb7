import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { labels } from '../../crds/labels.ts';
import type { Phase } from '../../crds/schema/workflow-execution-status.ts';
import { createCluster } from '../../api/cluster/index.ts';
import { createReadRoute } from '../../api/routes/executions/read/index.ts';
import { createCallRooms } from '../../api/tools/call-room.ts';
import { createExecutionPhases } from '../../api/tools/execution-phases.ts';
import { createOperations } from '../../api/tools/operations.ts';
import { systemClock } from '../../lib/clock.ts';
import { createCredentialSource } from '../../lib/kube/credentials.ts';
import { createKubeClient } from '../../lib/kube/http-client.ts';
import type { KubeObject } from '../../lib/kube/index.ts';
import { createLogger } from '../../lib/logger.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import { type AnswerRoom, createLargeAnswers } from '../../lib/tools/web/answer-room.ts';
import type { ToolArguments } from '../../lib/tools/tool.ts';
import { aToolCaller } from '../builders/tool-caller.ts';
import { type Answerer, answerJson, startHttpPeer } from '../support/http-peer.ts';
import { createServiceToolsWorld, type ServiceToolsWorld } from '../support/service-tools.ts';

/**
 * The attacker may write workflows in tenant a. Their states call tools that wait for one execution, or read it: its input
 * of 600 KB of `{}` takes some 16 MB of heap.
 */
const input = { a: Array.from({ length: 200_000 }, () => ({})) };
const waiters = 12;
const mebibyte = 1_048_576;
const readMs = 20;
/** The heaps of other files of the worker are collected as well, on a machine that others share. */
const patienceMs = 180_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function execution(tenant: string, name: string, phase: Phase, value: object): KubeObject {
  const metadata = { namespace: `tenant-${tenant}`, name, uid: `uid-of-${name}`, resourceVersion: '1' };
  const object = {
    apiVersion: 'windlass.dev/v1',
    kind: 'WorkflowExecution',
    metadata,
    spec: { workflow: 'w', input: value },
    status: { phase },
  };
  return object;
}

const texts = new Map(
  [
    execution('a', 'fat', 'running', input),
    execution('b', 'fat-of-b', 'completed', input),
    execution('b', 'small', 'completed', {}),
  ].map((one) => [one.metadata.name, JSON.stringify(one)]),
);
const namespaces = ['a', 'b'].map((tenant) => ({
  metadata: { name: `tenant-${tenant}`, uid: tenant, resourceVersion: '1', labels: { [labels.tenant]: tenant } },
}));

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** The memory for large answers of the API, which says how much of it is held. */
function counted(room: AnswerRoom): AnswerRoom & { readonly held: { now: number; most: number } } {
  const held = { now: 0, most: 0 };
  return {
    held,
    of(answer) {
      const taken = room.of(answer);
      let own = 0;
      return {
        async grow() {
          await taken.grow();
          own = answer.cost;
          held.now += own;
          held.most = Math.max(held.most, held.now);
        },
        keep: (cost) => taken.keep(cost),
        [Symbol.dispose]() {
          held.now -= own;
          own = 0;
          taken[Symbol.dispose]();
        },
      };
    },
  };
}

/** The tools and the routes of the API over a cluster whose server counts its answers. */
async function setUp() {
  const reads: string[] = [];
  const answer: Answerer = async ({ path, query }, response) => {
    if (query.get('watch') !== null) {
      response.writeHead(200).flushHeaders();
      return;
    }
    const text = texts.get(/workflowexecutions\/(.+)$/.exec(path)?.[1] ?? '');
    if (text !== undefined) {
      reads.push(path);
      await systemClock.sleep(readMs);
      response.writeHead(200, { 'content-type': 'application/json' }).end(text);
      return;
    }
    const executions = [...texts.values()].map((one) => JSON.parse(one) as KubeObject);
    const items = path.endsWith('workflowexecutions') ? executions : path.endsWith('namespaces') ? namespaces : [];
    answerJson(response, 200, { metadata: { resourceVersion: '1' }, items });
  };
  const peer = await startHttpPeer(answer);
  const clock = systemClock;
  const credentials = createCredentialSource(async () => ({ server: peer.url, tls: {}, headers: {} }), clock);
  const kube = createKubeClient({ credentials, clock });
  const logger = createLogger({ level: 'silent', service: 'test' });
  const reflector = () => ({ client: kube, clock, logger });
  const cluster = createCluster({ kube, clock, reflector, systemTenant: 'system', systemNamespace: 'windlass-system' });
  const stop = new AbortController();
  const running = cluster.run(stop.signal);
  cleanups.push(
    () => peer.close(),
    () => kube.close(),
    () => running,
    () => stop.abort(),
  );
  await expect.poll(() => cluster.hasSynced, { timeout: 50_000 }).toBe(true);
  const operations = createOperations(clock);
  const outputs = () => () => Promise.reject(new Error('nothing is stored'));
  operations.serve([createReadRoute({ cluster, outputs, archived: { find: async () => undefined } })]);
  const answers = counted(createLargeAnswers(clock));
  const tools = createServiceToolsWorld({
    clock,
    operations,
    phases: createExecutionPhases(cluster),
    rooms: createCallRooms(clock, answers),
  });
  return { tools, reads, answers };
}

let api: Awaited<ReturnType<typeof setUp>>;
beforeEach(async () => {
  api = await setUp();
});

/** A call by a workflow of the tenant. */
const call = ({ tools }: { readonly tools: ServiceToolsWorld }, tenant: string, name: string, args: ToolArguments) => {
  const tool = tools.tools[name];
  if (tool?.kind !== 'api') throw new Error(`${name} does not run in the API`);
  const caller = aToolCaller({ spec: null, tenant, namespace: `tenant-${tenant}` });
  return tool.run(caller, args, new AbortController().signal);
};

const many = <T>(make: () => Promise<T>): Promise<T>[] => Array.from({ length: waiters }, make);

describe('calls of one tenant for an execution that takes much memory', () => {
  it(
    'hold none of it while they wait, and another tenant is served',
    async () => {
      collect();
      const before = process.memoryUsage().heapUsed;
      const waits = many(() => call(api, 'a', 'svc.workflow.wait', { execution_id: 'fat', timeout_secs: 5 }));
      await systemClock.sleep(3_000);
      const { content } = await call(api, 'b', 'svc.workflow.wait', { execution_id: 'small', timeout_secs: 60 });
      expect(JSON.parse(content)).toMatchObject({ status: 'completed' });
      collect();
      // Two of them take more.
      expect((process.memoryUsage().heapUsed - before) / mebibyte).toBeLessThan(30);
      expect(api.reads).toEqual([]);
      expect(api.answers.held.now).toBe(0);
      const ended = (await Promise.all(waits)).map((one) => JSON.parse(one.content) as object);
      expect(ended).toMatchObject(Array(waiters).fill({ status: 'running', timed_out: true }));
      expect(api.answers.held.now).toBe(0);
    },
    patienceMs,
  );

  it(
    'read it in turns within the memory for large answers, which leaves another tenant its turn',
    async () => {
      const reads = many(() => call(api, 'a', 'svc.workflow.status', { execution_id: 'fat' }));
      const left = { count: waiters };
      for (const one of reads) void one.then(() => (left.count -= 1));
      await expect.poll(() => left.count).toBeLessThan(waiters);
      const { isError } = await call(api, 'b', 'svc.workflow.status', { execution_id: 'fat-of-b' });
      expect(isError).toBe(false);
      expect(left.count).toBeGreaterThan(waiters / 2);
      expect((await Promise.all(reads)).filter((one) => one.isError)).toEqual([]);
      expect(api.answers.held.most).toBeGreaterThan(10 * mebibyte);
      expect(api.answers.held.most).toBeLessThanOrEqual(bytesOf('large answers'));
      expect(api.answers.held.now).toBe(0);
    },
    patienceMs,
  );
});
