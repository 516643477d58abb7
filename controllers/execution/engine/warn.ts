import { limits } from '../../../crds/limits.ts';
import type { WorkflowExecutionStatus } from '../../../crds/schema/workflow-execution-status.ts';
import { cutText } from '../../../lib/cut-text.ts';

/** Adds warnings to a status, each once; it keeps the newest. */
export function warn(status: WorkflowExecutionStatus, warnings: readonly string[]): void {
  if (warnings.length === 0) return;
  const lines = warnings.map((text) => cutText(text, limits.warningLength));
  status.warnings = [...new Set([...(status.warnings ?? []), ...lines])].slice(-limits.warnings);
}

/**
 * Names the paths that a template found without a value: it printed placeholders in their places (WF-TPL-31). The first
 * ones stay, for a template is rendered again and again, and some room is left for what goes wrong later.
 */
export function warnOfPlaceholders(status: WorkflowExecutionStatus, missing: readonly string[]): void {
  const where = status.state === undefined ? '' : `state ${status.state}: `;
  const room = limits.placeholderWarnings - (status.warnings?.length ?? 0);
  const lines = missing.map((path) => `${where}{{${path}}} had no value; a placeholder stands there`);
  const known = new Set(status.warnings);
  const news = lines.map((text) => cutText(text, limits.warningLength)).filter((text) => !known.has(text));
  warn(status, news.slice(0, Math.max(0, room)));
}
