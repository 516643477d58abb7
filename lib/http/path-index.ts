/** The entry of a path, and the values of its parameters. */
interface PathMatch<T> {
  /** By method in upper case. */
  readonly byMethod: ReadonlyMap<string, T>;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds the entry of a path. */
interface PathIndex<T> {
  /** The path as it came, percent-encoded but sound; undefined where there is no entry. */
  find(path: string): PathMatch<T> | undefined;
}

interface PathEntry<T> {
  readonly method: string;
  /** With parameters in braces: `/v1/workflows/{workflow}`. */
  readonly path: string;
  readonly value: T;
}

/** One segment of all paths that begin alike. */
interface Node<T> {
  readonly fixed: Map<string, Node<T>>;
  parameter?: { readonly name: string; readonly node: Node<T> };
  readonly byMethod: Map<string, T>;
}

/**
 * Paths as OpenAPI reads them: letter by letter, a slash at the end counts, and a segment that is written out is
 * preferred to a parameter. Such a path means itself whatever the method: DELETE of `/workflows/register` deletes no
 * workflow of that name.
 */
export function createPathIndex<T>(entries: readonly PathEntry<T>[]): PathIndex<T> {
  const root = createNode<T>();
  for (const { method, path, value } of entries) {
    let node = root;
    for (const segment of path.slice(1).split('/')) node = enter(node, segment);
    node.byMethod.set(method.toUpperCase(), value);
  }
  return {
    find(path) {
      if (!path.startsWith('/')) return undefined;
      const params: Record<string, string> = {};
      const node = search(root, path, 1, params);
      return node === undefined ? undefined : { byMethod: node.byMethod, params };
    },
  };
}

const createNode = <T>(): Node<T> => ({ fixed: new Map(), byMethod: new Map() });

/** The node of the next segment, made where there is none yet. */
function enter<T>(node: Node<T>, segment: string): Node<T> {
  const name = /^\{(\w+)\}$/.exec(segment)?.[1];
  if (name !== undefined) {
    node.parameter ??= { name, node: createNode() };
    if (node.parameter.name !== name) throw new Error(`{${name}} has the place of {${node.parameter.name}}`);
    return node.parameter.node;
  }
  const known = node.fixed.get(segment) ?? createNode<T>();
  node.fixed.set(segment, known);
  return known;
}

/** Where the rest of the path from `start` leads; fills in the parameters on the way back. */
function search<T>(node: Node<T>, path: string, start: number, params: Record<string, string>): Node<T> | undefined {
  const slash = path.indexOf('/', start);
  const segment = slash < 0 ? path.slice(start) : path.slice(start, slash);
  const onward = (next: Node<T> | undefined): Node<T> | undefined => {
    if (next === undefined) return undefined;
    if (slash >= 0) return search(next, path, slash + 1, params);
    return next.byMethod.size === 0 ? undefined : next;
  };
  const fixed = onward(node.fixed.get(segment));
  if (fixed !== undefined || node.parameter === undefined || segment === '') return fixed;
  const found = onward(node.parameter.node);
  if (found !== undefined) params[node.parameter.name] = decodeURIComponent(segment);
  return found;
}
