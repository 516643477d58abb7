/** Problems in one line: the first ones in full, the rest counted. */
export function problemText(problems: readonly string[], shown: number): string {
  const rest = problems.length - shown;
  return [...problems.slice(0, shown), ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ');
}
