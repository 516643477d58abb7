/** The parts of a schema of a kind that bound what a value of it takes. */
interface Bounds {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Bounds[];
  readonly pattern?: string;
  readonly format?: string;
  readonly maxLength?: number;
  readonly items?: Bounds;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Bounds>>;
  readonly additionalProperties?: Bounds | boolean;
  readonly maxProperties?: number;
}

/** One such character makes V8 keep two bytes for each of its text. */
const wide = 'ā';
/** Characters of a text, and members of a list or a map, whose schema has no bound: its form or the API server has one. */
const unbounded = 64;

const textOf = ({ pattern, format, maxLength = unbounded }: Bounds): string =>
  pattern === undefined && format === undefined
    ? `${wide}${'x'.repeat(Math.max(0, maxLength - 1))}`
    : 'x'.repeat(maxLength);

/**
 * A value with each field of its schema, as long and as often as the schema permits, so that no field that is added later
 * is forgotten. It need not be valid: what it takes is all that counts. Free JSON is `free`.
 */
export function fullest(schema: object, free: unknown): unknown {
  const bounds = schema as Bounds;
  if (bounds.enum !== undefined) return longest(bounds.enum);
  if (bounds.const !== undefined) return bounds.const;
  if (bounds.anyOf !== undefined) return bounds.anyOf.map((each) => fullest(each, free)).reduce(larger);
  if ('x-kubernetes-preserve-unknown-fields' in bounds) return free;
  switch (bounds.type) {
    case 'string':
      return textOf(bounds);
    case 'array':
      return Array.from({ length: bounds.maxItems ?? unbounded }, () => fullest(bounds.items ?? {}, free));
    case 'object':
      return { ...membersOf(bounds, free), ...namedOf(bounds, free) };
    case 'boolean':
      return true;
    default:
      return 1;
  }
}

const namedOf = ({ properties = {} }: Bounds, free: unknown): object =>
  Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, fullest(each, free)]));

function membersOf({ additionalProperties: each, maxProperties = unbounded }: Bounds, free: unknown): object {
  if (typeof each !== 'object') return {};
  return Object.fromEntries(Array.from({ length: maxProperties }, (_, at) => [`key${at}`, fullest(each, free)]));
}

const sizeOf = (value: unknown): number => JSON.stringify(value).length;
const larger = (one: unknown, other: unknown): unknown => (sizeOf(other) > sizeOf(one) ? other : one);
const longest = (values: readonly unknown[]): unknown => values.reduce(larger);
