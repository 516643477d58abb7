import type { OpenApiIndex, OpenApiReading, UpstreamOperation } from './operation.ts';

/**
 * A reading as one thread sends it to another. A message holds a text as often as its value names it, and the receiver
 * gets that many texts. 5,000 operations of one long server would have 5,000 copies of it.
 */
export interface PackedReading extends Omit<OpenApiReading, 'index'> {
  readonly index?: PackedIndex;
}

interface PackedIndex extends Omit<OpenApiIndex, 'operations'> {
  /** Methods, paths, servers and required parameters, each once. */
  readonly texts: readonly string[];
  /** Places in `texts`. */
  readonly operations: readonly (readonly [
    id: string,
    method: number,
    path: number,
    server: number,
    ...needs: number[],
  ])[];
}

export function packReading({ problems, index }: OpenApiReading): PackedReading {
  if (index === undefined) return { problems };
  const places = new Map<string, number>();
  const placeOf = (text: string): number => {
    const place = places.get(text) ?? places.size;
    places.set(text, place);
    return place;
  };
  const operations = [...index.operations].map(
    ([id, { method, path, server, needs = [] }]) =>
      [id, placeOf(method), placeOf(path), placeOf(server), ...needs.map(placeOf)] as const,
  );
  return { problems, index: { ...index, texts: [...places.keys()], operations } };
}

/** The reading that was packed. Its operations share their texts. */
export function unpackReading({ problems, index }: PackedReading): OpenApiReading {
  if (index === undefined) return { problems };
  const { texts, operations, ...rest } = index;
  const textAt = (place: number): string => texts[place] ?? '';
  const byId = operations.map(([id, method, path, server, ...needs]): [string, UpstreamOperation] => [
    id,
    {
      method: textAt(method),
      path: textAt(path),
      server: textAt(server),
      ...(needs.length > 0 && { needs: needs.map(textAt) }),
    },
  ]);
  return { problems, index: { ...rest, operations: new Map(byId) } };
}
