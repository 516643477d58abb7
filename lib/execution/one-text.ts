interface Row {
  readonly message: string;
}

/** Conditions that repeat the message of their status, with the very text of it: a cache holds it once. */
export const withOneText = <R extends Row>(
  conditions: readonly R[] | undefined,
  message: string | undefined,
): R[] | undefined => conditions?.map((row) => (row.message === message ? { ...row, message } : row));
