import { limits } from '../../crds/limits.ts';
import { cutText } from '../../lib/cut-text.ts';

/** As many warnings as `status.warnings` may hold, each cut to what fits. */
export const shownWarnings = (warnings: readonly string[]): string[] =>
  warnings.slice(0, limits.warnings).map((text) => cutText(text, limits.warningLength));

/** Words of a condition's message about warnings; empty where there are none. */
export const warningsText = ({ length }: readonly string[]): string =>
  length === 0 ? '' : `; status.warnings has ${length} warning${length === 1 ? '' : 's'}`;
