/**
 * Bounds that keep the work of one template, expression or schema below 100 ms of processor time.
 * Work is counted in units of one to ten nanoseconds, never measured by the clock, so the outcome is the same on
 * every machine. Lengths are in UTF-16 units.
 */
export const templateLimits = {
  /** Parsing takes about four microseconds for a token. */
  tokens: 10_000,
  /** Open blocks, chained `else if` included; the parser's own passes are recursive. */
  blockDepth: 32,
  /** Nested `( … )` of helper arguments. */
  callDepth: 8,
  /** Length of a rendered text; several outputs of 1 MiB fit. */
  renderedLength: 4 * 1024 * 1024,
  /** Units of work of one rendering. */
  work: 16 * 1024 * 1024,
  /** Bytes of stored values that one rendering may ask for. */
  loadedBytes: 16 * 1024 * 1024,
  /** Nesting of a value that is written or read as JSON. */
  jsonDepth: 200,
  /** Parsed templates that are remembered. */
  remembered: { keys: 500, length: 1024 * 1024 },
} as const;

/** Prices in units of work. */
export const prices = {
  /** One node of a template, one operation of an expression, one pass of a loop. */
  step: 32,
  /** One segment of a path. */
  segment: 8,
  /** One character that is read, or that a text takes in. */
  character: 1,
  /** One character that a helper turns into another text. */
  changedCharacter: 2,
  /** One character of JSON that is parsed. */
  parsedCharacter: 6,
  /** One value that is written as JSON, besides its characters. */
  jsonNode: 32,
} as const;
