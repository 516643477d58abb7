import { AppError } from '../errors.ts';
import type { ListOptions } from './client.ts';
import type { KubeList, KubeObject } from './objects.ts';

/** Objects a page where nothing is known of their size, as kubectl asks for them. */
const pageSize = 500;
/** Bytes of a page of several objects. Parsed, the worst of them takes forty times as much. */
const pageBytes = 4 * 1024 * 1024;
/**
 * Bytes of a page of one object. etcd takes 1.5 MiB, and the API server writes each of `<`, `>` and `&` as six bytes: 9 MiB,
 * of which the parsed object has a sixth.
 */
const objectBytes = 16 * 1024 * 1024;
/** A page that is too large is asked for again with so many times fewer objects; each that fits makes the next larger. */
const shrinkBy = 4;
const growBy = 1.5;

type ListPage<T extends KubeObject> = (options: ListOptions) => Promise<KubeList<T>>;

/**
 * The pages of a list. Each has a bound of bytes: objects of any size take as many requests as they need, and never the
 * memory of the process. `passOver` lists the metadata of the one object that is still too large; the list then goes on
 * behind it. Without `passOver` such an object ends the list with AppError `AnswerTooLarge`.
 */
export async function* listPages<T extends KubeObject>(
  list: ListPage<T>,
  options: ListOptions,
  passOver?: ListPage<KubeObject>,
): AsyncGenerator<KubeList<T>> {
  const most = options.limit ?? pageSize;
  let limit = most;
  let at: Pick<ListOptions, 'continue' | 'resourceVersion'> = options;
  for (;;) {
    const bounded = { ...options, ...at, limit, answerBytes: limit === 1 ? objectBytes : pageBytes };
    const page = await pageOf(list, bounded, passOver);
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

/** Undefined where a page of fewer objects may fit. */
async function pageOf<T extends KubeObject>(
  list: ListPage<T>,
  bounded: ListOptions & { readonly limit: number },
  passOver: ListPage<KubeObject> | undefined,
): Promise<KubeList<T> | undefined> {
  try {
    return await list(bounded);
  } catch (error) {
    if (!(error instanceof AppError && error.reason === answerTooLarge)) throw error;
    if (bounded.limit > 1) return undefined;
    if (passOver === undefined) throw error;
    return { metadata: (await passOver(bounded)).metadata, items: [] };
  }
}

/** Reason of an answer that was cut off because it has more bytes than whoever asked takes. */
export const answerTooLarge = 'AnswerTooLarge';
