import type { CelRule } from '../schema/parts.ts';

/** A name of blanks alone is found by no caller. */
export const scriptRules: CelRule[] = [
  {
    rule: 'self.name.trim() == self.name',
    message: 'name begins or ends with blanks; remove them',
    fieldPath: '.name',
  },
];
