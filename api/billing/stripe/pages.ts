/** A page of a list of the provider. */
interface ProviderPage<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
}

/** Largest page of the provider. */
export const pageSize = 100;

/** A list in whole, up to `most` pages; `fetchPage` gets the id after which the page begins. */
export async function allPages<T extends { readonly id: string }>(
  most: number,
  fetchPage: (after: { readonly starting_after?: string }) => Promise<ProviderPage<T>>,
): Promise<T[]> {
  const all: T[] = [];
  for (let page = 0; page < most; page++) {
    const last = all.at(-1);
    const { data, has_more } = await fetchPage(last === undefined ? {} : { starting_after: last.id });
    all.push(...data);
    if (!has_more || data.length === 0) break;
  }
  return all;
}
