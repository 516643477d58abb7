import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../clock.ts';
import { startDeadline } from '../../deadline.ts';
import { AppError } from '../../errors.ts';
import { createFairPool } from '../../fair-pool.ts';

/** Where the module `markdown-worker.ts` is, or what a bundle made of it. */
export const markdownWorker = { source: '../lib/tools/web/markdown-worker.ts', bundled: 'markdown-worker.js' } as const;

/** Limits of turning pages into Markdown (design §11). */
const bounds = { threads: 2, waiting: 100, waitMs: 20_000, timeoutMs: 15_000, heapMb: 256 } as const;

/** Turns HTML into Markdown. @throws AppError `limit_exceeded` where a page takes too long or too much memory. */
export type ToMarkdown = (html: string, tenant: string) => Promise<string>;

interface MarkdownOptions {
  readonly clock: Clock;
  readonly workerUrl: URL;
  readonly timeoutMs?: number;
}

/** Each page has a thread of its own: whatever it makes its parser do, the event loop stays free. */
export function createToMarkdown({ clock, workerUrl, timeoutMs = bounds.timeoutMs }: MarkdownOptions): ToMarkdown {
  const { threads: size, waiting, waitMs } = bounds;
  const turns = createFairPool({ size, waiting, waitMs, clock });
  return (html, tenant) =>
    turns.run({ tenant }, async () => {
      using deadline = startDeadline(clock, timeoutMs);
      const resourceLimits = { maxOldGenerationSizeMb: bounds.heapMb, maxYoungGenerationSizeMb: 16 };
      const worker = new Worker(workerUrl, { workerData: html, resourceLimits });
      try {
        const [markdown] = (await once(worker, 'message', { signal: deadline.signal })) as [string];
        return markdown;
      } catch (cause) {
        const message = 'turning the page into Markdown takes too much; fetch it with to_markdown false';
        throw new AppError('limit_exceeded', message, { reason: 'TooLarge', cause });
      } finally {
        worker.on('error', () => undefined);
        await worker.terminate();
      }
    });
}
