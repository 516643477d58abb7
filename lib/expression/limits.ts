/** Bounds of one `custom` expression; its work at run time is counted like that of a template. */
export const expressionLimits = {
  /** Length in UTF-16 units; the schema of a transition has the same bound. */
  length: 4_096,
  /** Nested parentheses and negations. */
  depth: 50,
  /** Parsed expressions that are remembered. */
  remembered: { keys: 500, length: 1024 * 1024 },
} as const;
