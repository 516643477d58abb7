import { conditionTypes } from '../../crds/conditions.ts';
import type { Versioned } from './versioned.ts';

/**
 * Whether the content of an object is fixed under its version: it was accepted, or nothing has judged it yet. A content
 * that was judged and never stored may be mended under its version. The admission policy of versions has the same rule.
 */
export function wasAccepted({ metadata, spec, status }: Versioned): boolean {
  if (status?.observedGeneration === undefined || status.observedGeneration !== metadata.generation) return true;
  const isRefused = status.conditions?.some((row) => row.type === conditionTypes.ready && row.status === 'False');
  return isRefused !== true || status.versions?.some(({ version }) => version === spec.version) === true;
}
