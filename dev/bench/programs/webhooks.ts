import { createHmac } from 'node:crypto';
import { type Dispatcher, Pool } from 'undici';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { anEnd, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { startApiReplica } from '../../../test/cluster/api/harness/api-replica.ts';
import { kubeconfigPath } from '../../../test/cluster/harness/cluster.ts';
import { stimulusRouters, workflowExecutions, workflows } from '../../../test/cluster/harness/kinds.ts';
import { startNatsServer } from '../../../test/nats/nats-server.ts';
import { buildApi } from '../api.ts';
import type { BenchCluster } from '../bench-cluster.ts';
import { processCpuSeconds, withCpuUse } from '../machine.ts';
import { besideApiServer } from '../placement.ts';
import type { Program, Sample } from '../program.ts';
import { pause } from '../../../test/cluster/harness/wait.ts';

/** Many: collections of garbage in the API server, which take a second or two, fall into those of both kinds. */
const rounds = 48;
const each = 125;
/** Rounds of each kind before the clock runs: a process that has served for a minute has compiled what it runs. */
const warmUps = 32;
/** After each round, in milliseconds: events that an answer leaves to be stored are no load of the next one. */
const restMs = 200;
const inFlight = 32;
const source = 'bench';
const secret = 'secret of the benchmark';

/** The time and the processor time that some rounds of one kind of work took. */
interface Spent {
  seconds: number;
  machineSeconds: number;
}

/** Does a piece of work as often as a round asks for, at most `inFlight` at once. */
async function round(work: (index: number) => Promise<void>, spent: Spent): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < each) await work(next++);
  };
  const started = performance.now();
  const { machineSeconds } = await withCpuUse(() => Promise.all(Array.from({ length: inFlight }, worker)));
  spent.seconds += (performance.now() - started) / 1_000;
  spent.machineSeconds += machineSeconds;
  await pause(restMs);
}

type Delivery = Pick<Dispatcher.DispatchOptions, 'path' | 'method' | 'headers' | 'body'>;

/** A push event of usual size, signed, with a key of its own. */
function deliveryOf(run: string, index: number): Delivery {
  const body = JSON.stringify({
    ref: 'refs/heads/main',
    after: createHmac('sha256', run).update(String(index)).digest('hex').slice(0, 40),
    repository: { id: 4711, full_name: 'acme/shop', default_branch: 'main' },
    head_commit: { message: 'Say less '.repeat(20), author: { name: 'Kim' }, modified: ['a.ts', 'b.ts', 'c.ts'] },
  });
  const headers = {
    'content-type': 'application/json',
    'x-svc-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    'x-idempotency-key': `${run}-${index}`,
  };
  return { path: `/v1/webhooks/${source}`, method: 'POST', headers, body };
}

async function define({ kube, namespace }: BenchCluster): Promise<void> {
  const workflow = aWorkflow('build').state('done', anEnd()).build();
  await kube.create(workflows, { ...workflow, metadata: { name: 'build', namespace } });
  const metadata = { name: 'routes', namespace };
  const spec = { routes: { [source]: 'build' } };
  await kube.create(stimulusRouters, { apiVersion: 'windlass.dev/v1', kind: 'StimulusRouter', metadata, spec });
}

/** Sends one and reads the answer, with as little beside it as a client can do. */
function deliver(pool: Dispatcher, delivery: Delivery): Promise<void> {
  return new Promise((resolve, reject) => {
    let status = 0;
    let text = '';
    pool.dispatch(delivery, {
      onRequestStart: () => undefined,
      onResponseStart: (_, statusCode) => {
        status = statusCode;
      },
      onResponseData: (_, chunk) => {
        text += chunk.toString();
      },
      onResponseEnd: () =>
        status === 200 ? resolve() : reject(new Error(`a webhook was answered ${status}: ${text}`)),
      onResponseError: (_, error) => reject(error),
    });
  });
}

/** Signed before the clock runs: that is the sender's work. */
async function deliverRound(pool: Dispatcher, run: string, spent: Spent): Promise<void> {
  const deliveries = Array.from({ length: each }, (_, index) => deliveryOf(run, index));
  await round((index) => deliver(pool, deliveries[index] as Delivery), spent);
}

/** The objects that the webhooks make, made without them: same size, same client, same number at once. */
async function createBare({ kube, namespace }: BenchCluster, run: string, index: number): Promise<void> {
  const [like] = (await known(kube, namespace)) ?? [];
  if (like === undefined) throw new Error('no webhook has made an execution yet');
  const { labels, annotations } = like.metadata;
  const name = `bare-${run}-${index}`;
  await kube.create(workflowExecutions, {
    ...like,
    metadata: { name, namespace, labels, annotations },
    status: undefined,
  });
}

let first: Promise<readonly WorkflowExecution[]> | undefined;
function known(kube: BenchCluster['kube'], namespace: string): Promise<readonly WorkflowExecution[]> {
  first ??= kube.list(workflowExecutions, { namespace, limit: 1 }).then(({ items }) => items);
  return first;
}

async function measure(bench: BenchCluster, say: (text: string) => void): Promise<Sample> {
  const nats = await startNatsServer();
  const env = {
    KUBECONFIG: kubeconfigPath(),
    WINDLASS_OIDC_ISSUER: 'http://127.0.0.1:9',
    OIDC_ALLOW_HTTP: 'true',
    WINDLASS_NATS_URL: nats.url,
    WINDLASS_LOG_LEVEL: 'info',
    SVC_WEBHOOK_SECRET_BENCH: secret,
  };
  const api = await startApiReplica({ name: 'bench-webhooks', program: await buildApi(), env });
  const pool = new Pool(api.url, { connections: inFlight });
  first = undefined;
  try {
    await define(bench);
    const [ours, bare]: [Spent, Spent] = [
      { seconds: 0, machineSeconds: 0 },
      { seconds: 0, machineSeconds: 0 },
    ];
    for (let turn = 1; turn <= warmUps; turn++) {
      await deliverRound(pool, `warm-${turn}`, { ...ours });
      await round((index) => createBare(bench, `warm-${turn}`, index), { ...bare });
    }
    const before = await processCpuSeconds(api.pid);
    // In turns, so that whatever else the machine does meets both.
    for (let turn = 1; turn <= rounds; turn++) {
      await round((index) => createBare(bench, `run-${turn}`, index), bare);
      await deliverRound(pool, `run-${turn}`, ours);
    }
    const apiSeconds = (await processCpuSeconds(api.pid)) - before;
    const count = rounds * each;
    const milliseconds = (seconds: number): number => Math.round((seconds / count) * 1e5) / 100;
    say(`bare creates ${(count / bare.seconds).toFixed(0)}/s`);
    return {
      ours: count / ours.seconds,
      baseline: count / bare.seconds,
      extra: {
        'CPU-milliseconds of the machine a bare create': milliseconds(bare.machineSeconds),
        'CPU-milliseconds of the machine a webhook': milliseconds(ours.machineSeconds),
        'CPU-milliseconds of the API a webhook, with what it watches': milliseconds(apiSeconds),
      },
    };
  } finally {
    await pool.destroy();
    await api.stop();
    await nats.stop();
  }
}

const total = (rounds * each).toLocaleString('en');

/**
 * Signed webhooks, each with a key of its own: verified, reserved in the bucket, routed, created, published. Beside
 * them bare creates of the same objects. The API watches during both, so the API server has as many watchers to
 * serve. It has a processor of its own: the bar asks whether its rate of creates is what limits webhooks.
 */
export const webhooks: Program = {
  name: 'webhooks',
  title: `${total} signed webhooks with idempotency keys, the API server on a processor of its own; beside them bare creates`,
  unit: 'a second',
  bar: { of: 'ratio', atLeast: 0.8 },
  measure: (bench, say) => besideApiServer(() => measure(bench, say)),
};

/** The same where everything shares the processors: what Windlass takes is not there for the API server. */
export const webhooksShared: Program = {
  name: 'webhooks-shared',
  title: 'the same, all on the same two processors; beside them bare creates',
  unit: 'a second',
  bar: { of: 'ratio', atLeast: 0.8 },
  measure,
};
