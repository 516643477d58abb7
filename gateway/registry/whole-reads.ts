import { notFound } from './refusals.ts';

/** Objects in full, of which the cache keeps less. */
export interface WholeReads<T> {
  /** Bytes of heap of an object in full, where that is much; else 0. */
  weight(object: T): number;
  /** Large ones of one namespace one after another; undefined where it is gone. */
  whole(object: T): Promise<T | undefined>;
}

/** The object in full for an answer, in the tenant's share of memory. @throws HttpError 404 where it is gone, 503 without room. */
export async function wholeFor<T>(
  request: { reserve(bytes: number): Promise<void> },
  objects: WholeReads<T>,
  object: T,
): Promise<T> {
  const bytes = objects.weight(object);
  if (bytes > 0) await request.reserve(bytes);
  const found = await objects.whole(object);
  if (found === undefined) throw notFound();
  return found;
}
