import { type Dispatcher, Pool } from 'undici';
import { processCpuSeconds } from './machine.ts';
import { median, rounded } from './statistics.ts';

/** One of two servers that do the same work in turns. */
export interface Side {
  readonly url: URL;
  readonly pid: number;
  readonly path: string;
  /** Bodies of so many requests, made before the clock runs. */
  readonly bodies: (count: number) => Buffer[];
}

interface TurnPlan {
  readonly rounds: number;
  readonly warmUps: number;
  /** Requests of a round. */
  readonly each: number;
  readonly inFlight: number;
}

/** Results of the rounds of one side. */
interface Measured {
  readonly perSecond: number[];
  cpuSeconds: number;
}

export const post = (path: string, body: Buffer): Dispatcher.DispatchOptions => ({
  path,
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body,
});

/** Sends one request, and reads the answer with as little beside it as a client can do. */
export function send(pool: Dispatcher, request: Dispatcher.DispatchOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    let status = 0;
    let text = '';
    pool.dispatch(request, {
      onRequestStart: () => undefined,
      onResponseStart: (_, statusCode) => {
        status = statusCode;
      },
      onResponseData: (_, chunk) => {
        text += chunk.toString();
      },
      onResponseEnd: () =>
        status === 200 ? resolve() : reject(new Error(`a request was answered ${status}: ${text.slice(0, 500)}`)),
      onResponseError: (_, error) => reject(error),
    });
  });
}

/** Requests a second. */
async function round(pool: Pool, side: Side, { each, inFlight }: TurnPlan): Promise<number> {
  const bodies = side.bodies(each);
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) await send(pool, post(side.path, body));
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: inFlight }, worker));
  return (each * 1_000) / (performance.now() - started);
}

/** The ratio is the median of the rounds' ratios: whatever else the machine does meets both of a pair. */
export async function takeTurns(ours: Side, bare: Side, turns: TurnPlan) {
  const pools = [ours, bare].map(({ url }) => new Pool(url.origin, { connections: turns.inFlight }));
  const [ourPool, barePool] = pools as [Pool, Pool];
  const [mine, other]: [Measured, Measured] = [
    { perSecond: [], cpuSeconds: 0 },
    { perSecond: [], cpuSeconds: 0 },
  ];
  const one = async (pool: Pool, side: Side, measured: Measured): Promise<void> => {
    const before = await processCpuSeconds(side.pid);
    measured.perSecond.push(await round(pool, side, turns));
    measured.cpuSeconds += (await processCpuSeconds(side.pid)) - before;
  };
  try {
    for (let turn = 0; turn < turns.warmUps; turn++) {
      await round(barePool, bare, turns);
      await round(ourPool, ours, turns);
    }
    for (let turn = 0; turn < turns.rounds; turn++) {
      await one(barePool, bare, other);
      await one(ourPool, ours, mine);
    }
  } finally {
    await Promise.all(pools.map((pool) => pool.destroy()));
  }
  return summary(mine, other, turns);
}

function summary(ours: Measured, bare: Measured, { rounds, each }: TurnPlan) {
  const ratio = median(ours.perSecond.map((perSecond, turn) => perSecond / (bare.perSecond[turn] ?? Number.NaN)));
  const ourMedian = median(ours.perSecond);
  const microseconds = ({ cpuSeconds }: Measured): number => rounded((cpuSeconds * 1e6) / (rounds * each));
  return {
    ours: ourMedian,
    baseline: ourMedian / ratio,
    extra: {
      'CPU-microseconds of a request, bare': microseconds(bare),
      'CPU-microseconds of a request, ours': microseconds(ours),
    },
  };
}

/** So many calls of one side alone, signed some at a time, since a signature is fresh for half a minute. */
export async function callRepeatedly(side: Side, count: number): Promise<void> {
  const pool = new Pool(side.url.origin, { connections: 32 });
  try {
    for (let done = 0; done < count; done += 1_000)
      await round(pool, side, { ...once, each: Math.min(1_000, count - done) });
  } finally {
    await pool.destroy();
  }
}

const once = { rounds: 1, warmUps: 0, inFlight: 32 };
