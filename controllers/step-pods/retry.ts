import { limits } from '../../crds/limits.ts';
import type { Retry } from '../../crds/schema/container.ts';
import { parseDuration } from '../../lib/duration.ts';

/** How often a command may be run. */
export interface Attempts {
  readonly retry?: Retry | undefined;
  /** Whether a pod that was lost through no fault of its own is made again (requirements AMB-191). */
  readonly retry_on_disruption?: boolean | undefined;
}

/** Attempts in all, those after a disruption not counted. */
export const attemptsOf = ({ retry }: Attempts): number => retry?.max_attempts ?? limits.retryAttemptsDefault;

/** Whether one more loss of a pod, after so many, is made good beside `retry.max_attempts` (requirements AMB-191). */
export const mayRepeat = ({ retry, retry_on_disruption: wanted }: Attempts, disruptions: number): boolean =>
  (wanted ?? retry !== undefined) && disruptions < limits.disruptionRetriesMax;

/** Delay before attempt k ≥ 2 in milliseconds: backoff · 2^(k−2) (requirements AMB-078). */
export function retryDelayMs(retry: Retry | undefined, attempt: number): number {
  const backoff = retry?.backoff ?? limits.retryBackoffDefault;
  return parseDuration(backoff, { field: 'retry.backoff', allowZero: true }) * 2 ** (attempt - 2);
}
