/** Has each property, and is its own result. A spread takes nothing from it. */
const anything: never = new Proxy(() => undefined, {
  get: (_target, key) => (key === Symbol.iterator ? [][Symbol.iterator] : anything),
  apply: () => anything,
}) as never;

/** In place of the parts that routes are made with. Making routes only passes parts on, and no handler is called. */
export const partsOf = <K extends string>(names: readonly K[]): Readonly<Record<K, never>> =>
  Object.fromEntries(names.map((name) => [name, anything])) as Record<K, never>;
