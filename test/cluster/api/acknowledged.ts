import { pause } from '../harness/wait.ts';
import type { ApiReplica, ApiWorld, Received } from './harness/index.ts';

/** A kind of call that leaves something behind, made many times with a number that tells the calls apart. */
export interface Work {
  send(index: number, replica: number): Promise<Received>;
  /**
   * The outcome in an answer: the id of the new object, or `madeBefore`, by an attempt whose answer was lost.
   * Undefined: nothing is known, and the caller tries again.
   */
  outcomeOf(answer: Received): string | undefined;
  /** Ids of what each number has left behind. */
  left(): Promise<ReadonlyMap<number, readonly string[]>>;
}

export const madeBefore = 'made before';

/** A sender that tries again no more than this often has met something that does not pass. */
const mostAttempts = 500;

/**
 * Makes `count` calls at once, alternately to two replicas, each repeated at the other replica until an answer is known.
 * Ends the first replica without a goodbye while most are under way, and starts it again.
 */
export async function sendWhileKilled(work: Work, count: number, world: ApiWorld): Promise<Map<number, string>> {
  const victim = world.replicas[0] as ApiReplica;
  const outcomes = new Map<number, string>();
  let answers = 0;

  async function deliver(index: number): Promise<void> {
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      const answer = await work.send(index, (index + attempt) % 2).catch(() => undefined);
      answers += 1;
      const outcome = answer === undefined ? undefined : work.outcomeOf(answer);
      if (outcome !== undefined) return void outcomes.set(index, outcome);
      if (answer !== undefined && answer.status !== 503) throw new Error(`${index}: ${answer.status} ${answer.text}`);
      await pause(Math.min(200, Number(answer?.headers['retry-after'] ?? 0.05) * 1_000));
    }
    throw new Error(`${index} was not settled`);
  }

  const deliveries = Array.from({ length: count }, (_, index) => deliver(index));
  const settled = Promise.all(deliveries);
  while (answers < count / 8) await pause(2);
  await victim.kill();
  await victim.start();
  await settled;
  return outcomes;
}

/** Everything that was lost, doubled, or reported wrongly; empty when all is well. */
export async function faultsOf(work: Work, outcomes: ReadonlyMap<number, string>): Promise<string[]> {
  const left = await work.left();
  return [...outcomes].flatMap(([index, outcome]) => {
    const ids = left.get(index) ?? [];
    if (ids.length !== 1) return [`${index} was answered ${outcome} and left ${ids.length}`];
    return outcome === madeBefore || outcome === ids[0] ? [] : [`${index} was answered ${outcome} and left ${ids[0]}`];
  });
}
