/** A list of strings as a CEL literal. */
export const celList = (values: readonly string[]): string => `[${values.map((value) => `'${value}'`).join(', ')}]`;
