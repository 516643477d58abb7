import type { Problem } from '../../crds/problem.ts';

/** Problems that one sentence names. */
const shown = 3;

/** Problems in one line: the first three in full, the others counted. */
export function problemText(problems: readonly Pick<Problem, 'path' | 'message'>[]): string {
  const texts = problems.slice(0, shown).map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const rest = problems.length - texts.length;
  return [...texts, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ');
}
