import { Pool } from 'undici';
import { type Side, post, send } from './take-turns.ts';

interface Pace {
  readonly perSecond: number;
  /** At most 20: a signature is fresh for half a minute. */
  readonly seconds: number;
}

/** Connections that wait for nothing but answers: more calls than that are never under way at the rates that are measured. */
const connections = 256;

/**
 * Milliseconds from the moment at which each call was due to its answer. Calls are due at equal distances, whether or not those
 * before are answered, so that a server that hangs is not spared the calls of that time.
 */
export async function pacedCalls(side: Side, { perSecond, seconds }: Pace): Promise<number[]> {
  const pool = new Pool(side.url.origin, { connections });
  const bodies = side.bodies(Math.round(perSecond * seconds));
  const latencies: number[] = [];
  const call = async (body: Buffer, due: number): Promise<void> => {
    await send(pool, post(side.path, body));
    latencies.push(performance.now() - due);
  };
  try {
    const started = performance.now();
    const calls: Promise<void>[] = [];
    while (calls.length < bodies.length) {
      const dueNow = Math.min(bodies.length, Math.ceil(((performance.now() - started) * perSecond) / 1_000));
      for (let next = calls.length; next < dueNow; next += 1)
        calls.push(call(bodies[next] ?? Buffer.alloc(0), started + (next * 1_000) / perSecond));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await Promise.all(calls);
    return latencies;
  } finally {
    await pool.destroy();
  }
}
