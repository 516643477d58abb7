import { AppError } from '../errors.ts';
import type { ListOptions } from './client.ts';
import type { KubeList, KubeObject } from './objects.ts';

/** Objects a page at most, as kubectl asks for them. */
const pageSize = 500;
/** Objects of the first page, as nothing is known of their size: the server works for each of them, whatever is taken. */
const firstPageSize = 50;
/** Bytes of a page of several objects. Parsed, the worst of them takes forty times as much. */
const pageBytes = 4 * 1024 * 1024;
/**
 * Bytes of a page of one object. An object has 1.5 MiB in etcd, and the API server writes each of `<`, `>` and `&` as
 * six bytes. That makes 9 MiB, of which the parsed object has a sixth.
 */
const objectBytes = 16 * 1024 * 1024;
/** A page that is too large or too slow is asked for again with so many times fewer objects; each that fits makes the next larger. */
const shrinkBy = 4;
const growBy = 2;

type ListPage<T extends KubeObject> = (options: ListOptions) => Promise<KubeList<T>>;

/**
 * The pages of a list. Each has a bound of bytes: objects of any size take as many requests as they need, and never the
 * memory of the process. A page that the server does not answer in time is one of fewer objects as well. `passOver`
 * lists the metadata of the one object that is still too large; the list then continues behind it. Without `passOver`
 * such an object ends the list with AppError `AnswerTooLarge`.
 */
export async function* listPages<T extends KubeObject>(
  list: ListPage<T>,
  options: ListOptions,
  passOver?: ListPage<KubeObject>,
): AsyncGenerator<KubeList<T>> {
  let most = options.limit ?? pageSize;
  let limit = Math.min(most, firstPageSize);
  let at: Pick<ListOptions, 'continue' | 'resourceVersion'> = options;
  for (;;) {
    const bounded = { ...options, ...at, limit, answerBytes: limit === 1 ? objectBytes : pageBytes };
    const page = await pageOf(list, bounded, passOver);
    if (page === 'too large' || page === 'too slow') {
      // A page that is too slow costs half a minute; so many objects are not asked for twice.
      if (page === 'too slow') most = limit - 1;
      limit = Math.ceil(limit / shrinkBy);
      continue;
    }
    yield page;
    if (!page.metadata.continue) return;
    at = { continue: page.metadata.continue, resourceVersion: undefined };
    limit = Math.min(most, Math.ceil(limit * growBy));
  }
}

/** The page, or why one of fewer objects may do better. */
async function pageOf<T extends KubeObject>(
  list: ListPage<T>,
  bounded: ListOptions & { readonly limit: number },
  passOver: ListPage<KubeObject> | undefined,
): Promise<KubeList<T> | 'too large' | 'too slow'> {
  try {
    return await list(bounded);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const isTooLarge = error.reason === answerTooLarge;
    if (!isTooLarge && error.code !== 'timeout') throw error;
    if (bounded.limit > 1) return isTooLarge ? 'too large' : 'too slow';
    if (!isTooLarge || passOver === undefined) throw error;
    return { metadata: (await passOver(bounded)).metadata, items: [] };
  }
}

/** Reason of an answer that was cut off because it has more bytes than its reader takes. */
export const answerTooLarge = 'AnswerTooLarge';
