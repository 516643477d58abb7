import { hash } from 'node:crypto';
import { workflowSourcePattern } from '../../crds/stimulus-source.ts';

const pattern = new RegExp(workflowSourcePattern);

/** The route that executions of a workflow take when they end (requirements AMB-189). */
export const workflowSource = (name: string): string => `workflow:${name}`;

/** Whether a route is for executions that end. */
export const isWorkflowSource = (source: string): boolean => pattern.test(source);

/**
 * The id of the stimulus that the end of an execution becomes. It is a UUID that follows from the execution's uid and
 * the route. So each replica, at each try, makes the same execution or finds it made.
 */
export function endStimulusId(executionUid: string, source: string): string {
  const digits = hash('sha256', JSON.stringify([executionUid, source]));
  // Version 8 and the variant of RFC 9562, for a hash of one's own choice.
  const variant = ((Number.parseInt(digits.charAt(16), 16) & 0x3) | 0x8).toString(16);
  const parts = [digits.slice(0, 8), digits.slice(8, 12), `8${digits.slice(13, 16)}`];
  return [...parts, `${variant}${digits.slice(17, 20)}`, digits.slice(20, 32)].join('-');
}
