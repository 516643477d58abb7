import { cutMiddle } from '../../../lib/cut-text.ts';
import type { Draft } from './draft.ts';
import type { StepOutcome } from './facts.ts';

/** Room for the cause in a warning, in characters. */
const causeLength = 512;

/** A command whose end is known and whose output is not: that is no failure, but the status and an Event show it. */
export function warnOfLoss(draft: Draft, name: string, { exitCode, lost }: StepOutcome): void {
  if (lost === undefined) return;
  const text = `${name}: exit code ${exitCode}, and its output is lost: ${cutMiddle(lost, causeLength)}`;
  draft.warn(text);
  draft.recordEvent('Warning', 'CaptureFailed', text);
}
