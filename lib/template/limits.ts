/** Bounds of one template; what all templates of a turn may cost is in `lib/work/limits.ts`. Lengths are in UTF-16 units. */
export const templateLimits = {
  /** Tokens of one template; parsing takes about three microseconds for each. */
  tokens: 10_000,
  /** Comparisons of blanks by the parser's whitespace control, which is quadratic in a run of blanks. */
  blankSteps: 4 * 1024 * 1024,
  /** Open blocks, chained `else if` included; the parser's own passes are recursive. */
  blockDepth: 32,
  /** Nested `( … )` of helper arguments. */
  callDepth: 8,
  /** Length of a rendered text; several outputs of 1 MiB fit. */
  renderedLength: 4 * 1024 * 1024,
  /** Parsed templates that are remembered; a token weighs as much as so many characters. */
  tokenWeight: 50,
  remembered: { keys: 500, length: 4 * 1024 * 1024 },
} as const;
