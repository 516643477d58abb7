import { patternText } from '../pattern-text.ts';
import type { CelRule } from '../schema/parts.ts';

/**
 * The rule that takes the place of a text's pattern in the definition of a kind. The API server answers with a sentence
 * where it would show the whole expression. The API server bounds its cost, so that it suits texts outside of maps and
 * lists.
 */
export const patternRule = (pattern: string): CelRule => ({
  rule: `self.matches(r'${pattern}')`,
  message: patternText(pattern),
});

/** Whether a rule says what the pattern says. */
export const saysPattern = ({ rule }: CelRule, pattern: string): boolean => rule === patternRule(pattern).rule;
