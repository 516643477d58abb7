/**
 * CPU time and allocation of a call by `lib/kube` and by `@kubernetes/client-node`, in turn, against one server (ADR 0108, 0123).
 * usage: node --expose-gc --min-semi-space-size=128 --max-semi-space-size=128 dev/bench/kube-clients/main.ts [WORD OF A CALL]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { CoreV1Api, KubeConfig, Log, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { systemClock } from '../../../lib/clock.ts';
import { createCredentialSource, createKubeClient, pods } from '../../../lib/kube/index.ts';
import { median, rounded } from '../statistics.ts';

const rounds = 15;
const warmUp = 300;

type Send = () => Promise<unknown>;
interface Call {
  readonly name: string;
  /** Calls of a round: few enough that no collection of garbage is due. */
  readonly count: number;
  readonly ours: Send;
  readonly theirs: Send;
}

const child = fork(join(import.meta.dirname, 'server.ts'));
const [{ port }] = (await once(child, 'message')) as [{ port: number }];
const server = `http://127.0.0.1:${port}`;

function callsOf(): readonly Call[] {
  const load = async () => ({ server, tls: {}, headers: { authorization: 'Bearer x' } });
  const ours = createKubeClient({ credentials: createCredentialSource(load, systemClock), clock: systemClock });
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: 'c', server, skipTLSVerify: true }, { name: 'u', token: 'x' });
  const theirs = config.makeApiClient(CoreV1Api);
  const ref = { namespace: 'tenant-demo', name: 'one' };
  const body = { metadata: { labels: { a: 'b' } } };
  const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
  return [
    { name: 'get of a pod', count: 60, ours: () => ours.get(pods, ref), theirs: () => theirs.readNamespacedPod(ref) },
    {
      name: 'merge patch of a pod',
      count: 60,
      ours: () => ours.mergePatch(pods, ref, body),
      theirs: () => theirs.patchNamespacedPod({ ...ref, body }, merge),
    },
    {
      name: 'list of 100 pods',
      count: 6,
      ours: () => ours.list(pods, { namespace: ref.namespace }),
      theirs: () => theirs.listNamespacedPod({ namespace: ref.namespace }),
    },
    {
      name: 'log of 64 KiB',
      count: 20,
      ours: () => drained(ours.readLog(ref)),
      theirs: async () => {
        const sink = nowhere();
        await new Log(config).log(ref.namespace, ref.name, 'step', sink);
        await finished(sink);
      },
    },
  ];
}

const nowhere = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });

async function drained(log: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _chunk of log);
}

/** Connections that the server has accepted so far. */
const connections = async (): Promise<number> => Number(await (await fetch(`${server}/connections`)).text());

/** Connections that 100 calls open, those of the question itself not counted. */
async function opened(send: Send): Promise<number> {
  const before = await connections();
  for (let index = 0; index < 100; index++) await send();
  return (await connections()) - before;
}

/** Microseconds of CPU and KiB of heap for one call. */
async function measure(send: Send, count: number): Promise<{ readonly cpu: number; readonly kib: number }> {
  globalThis.gc?.();
  const heap = process.memoryUsage().heapUsed;
  const before = process.cpuUsage();
  for (let index = 0; index < count; index++) await send();
  const { user, system } = process.cpuUsage(before);
  return { cpu: (user + system) / count, kib: (process.memoryUsage().heapUsed - heap) / 1_024 / count };
}

async function compare({ name, count, ours, theirs }: Call): Promise<void> {
  for (let index = 0; index < warmUp; index++) for (const send of [ours, theirs]) await send();
  const results = { ours: [] as { cpu: number; kib: number }[], theirs: [] as { cpu: number; kib: number }[] };
  for (let round = 0; round < rounds; round++) {
    results.ours.push(await measure(ours, count));
    results.theirs.push(await measure(theirs, count));
  }
  for (const [side, list] of Object.entries(results)) {
    const cpu = rounded(median(list.map((one) => one.cpu)));
    const kib = rounded(median(list.map((one) => one.kib)));
    const sockets = await opened(side === 'ours' ? ours : theirs);
    process.stdout.write(`${name}, ${side}: ${cpu} µs CPU, ${kib} KiB, ${sockets} connections for 100 calls\n`);
  }
}

const wanted = process.argv[2] ?? '';
for (const call of callsOf().filter(({ name }) => name.includes(wanted))) await compare(call);
child.disconnect();
process.exit(0);
