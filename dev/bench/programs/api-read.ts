import { type BenchApi, startBenchApi } from '../api.ts';
import { type BareServer, startBareServer } from '../bare-server.ts';
import { load } from '../load.ts';
import { processCpuSeconds } from '../machine.ts';
import type { Program } from '../program.ts';
import { median, rounded } from '../statistics.ts';
import { readOf, waitingExecution } from '../waiting-execution.ts';

const rounds = 9;
const seconds = 4;

/** One side of the comparison, and what each of its rounds came to. */
interface Side {
  readonly pid: number;
  /** Requests a second. */
  readonly ask: () => Promise<number>;
  readonly perSecond: number[];
  cpuSeconds: number;
}

const sideOf = (pid: number, ask: () => Promise<number>): Side => ({ pid, ask, perSecond: [], cpuSeconds: 0 });

async function round(side: Side): Promise<void> {
  const before = await processCpuSeconds(side.pid);
  side.perSecond.push(await side.ask());
  side.cpuSeconds += (await processCpuSeconds(side.pid)) - before;
}

/** In turns, so that whatever else the machine does meets both. A first round of each warms up and does not count. */
async function compare(ours: Side, bare: Side): Promise<void> {
  for (const side of [ours, bare]) await side.ask();
  for (let turn = 0; turn < rounds; turn++) for (const side of [bare, ours]) await round(side);
}

/** The baseline is chosen so that the ratio is the median of the rounds' ratios. */
function medians(ours: Side, bare: Side) {
  const ratio = median(ours.perSecond.map((perSecond, turn) => perSecond / (bare.perSecond[turn] ?? Number.NaN)));
  const ourMedian = median(ours.perSecond);
  return { ours: ourMedian, baseline: ourMedian / ratio };
}

const microseconds = ({ cpuSeconds, perSecond }: Side): number =>
  rounded((cpuSeconds * 1e6) / (perSecond.reduce((sum, each) => sum + each, 0) * seconds));

async function answerTo(url: URL, token: string): Promise<string> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new Error(`the read was refused: ${answer.status} ${await answer.text()}`);
  return answer.text();
}

async function beside(api: BenchApi, server: BareServer, id: string) {
  const { token } = api;
  const url = readOf(api, id);
  const text = await answerTo(url, token);
  server.send(text);
  const until = { seconds };
  const ours = sideOf(api.pid, () => load({ url, token, until }));
  const bare = sideOf(server.pid, () => load({ url: server.url, token, until }));
  await compare(ours, bare);
  return {
    ...medians(ours, bare),
    extra: {
      'bytes of an answer': Buffer.byteLength(text),
      'CPU-microseconds of a request, bare': microseconds(bare),
      'CPU-microseconds of a request, ours': microseconds(ours),
    },
  };
}

export const apiRead: Program = {
  name: 'api-read',
  title: 'authenticated reads of an execution from the cache; beside them a bare Koa application',
  unit: 'requests/s',
  bar: { of: 'ratio', atLeast: 0.6 },
  async measure(bench) {
    const id = await waitingExecution(bench);
    const api = await startBenchApi(bench);
    const server = await startBareServer('bare-koa');
    try {
      return await beside(api, server, id);
    } finally {
      server.stop();
      await api.stop();
    }
  },
};
