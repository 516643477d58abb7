import { type Clock, resultWithin } from '../../../lib/clock.ts';
import type { HealthPage, PageSource } from '../../../lib/process/health-server.ts';

/** Pages that another thread makes. */
interface AskedPages {
  pageOf(path: string): PageSource;
  /** The other thread has answered. */
  take(id: number, page: HealthPage): void;
}

/** Below what probes wait for (the chart's `timeoutSeconds`). */
const answerMs = 2_500;
/** Questions under way: more come only from who asks again without waiting. */
const askedMost = 100;

const silent: HealthPage = { status: 503, text: 'loop: the main loop does not answer\n' };

export function createAskedPages(clock: Clock, ask: (id: number, path: string) => void): AskedPages {
  const asked = new Map<number, (page: HealthPage) => void>();
  let ids = 0;
  return {
    pageOf: (path) => async () => {
      if (asked.size >= askedMost) return silent;
      const id = (ids += 1);
      const answer = new Promise<HealthPage>((resolve) => asked.set(id, resolve));
      ask(id, path);
      const page = await resultWithin(clock, answerMs, answer);
      asked.delete(id);
      return page ?? silent;
    },
    take: (id, page) => asked.get(id)?.(page),
  };
}
