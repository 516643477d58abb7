import { AppError } from '../errors.ts';
import type { ListOptions } from './client.ts';
import type { KubeList, KubeObject } from './objects.ts';

/** Objects a page where nothing is known of their size, as kubectl asks for them. */
const pageSize = 500;
/**
 * Bytes of one page. Parsed, the worst of them takes forty times as much, and the API server takes no object of more than
 * three megabytes.
 */
const pageBytes = 4 * 1024 * 1024;
/** A page that is too large is asked for again with so many times fewer objects; each that fits makes the next larger. */
const shrinkBy = 4;
const growBy = 1.5;

type ListPage<T extends KubeObject> = (options: ListOptions) => Promise<KubeList<T>>;

/**
 * The pages of a list. Each has a bound of bytes: objects of any size take as many requests as they need, and never the
 * memory of the process.
 */
export async function* listPages<T extends KubeObject>(
  list: ListPage<T>,
  options: ListOptions,
): AsyncGenerator<KubeList<T>> {
  const most = options.limit ?? pageSize;
  let limit = most;
  let at: Pick<ListOptions, 'continue' | 'resourceVersion'> = options;
  for (;;) {
    const page = await unlessTooLarge(list({ ...options, ...at, limit, answerBytes: pageBytes }), limit);
    if (page === undefined) {
      limit = Math.ceil(limit / shrinkBy);
      continue;
    }
    yield page;
    if (!page.metadata.continue) return;
    at = { continue: page.metadata.continue, resourceVersion: undefined };
    limit = Math.min(most, Math.ceil(limit * growBy));
  }
}

async function unlessTooLarge<P>(page: Promise<P>, limit: number): Promise<P | undefined> {
  try {
    return await page;
  } catch (error) {
    if (limit > 1 && error instanceof AppError && error.reason === answerTooLarge) return undefined;
    throw error;
  }
}

/** Reason of an answer that was cut off because it has more bytes than whoever asked takes. */
export const answerTooLarge = 'AnswerTooLarge';
