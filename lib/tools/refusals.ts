import type { ToolRefusal } from './tool.ts';

/** The refusal of a call beyond `max_calls` of the security context. */
export const callsSpent = (most: number): ToolRefusal => ({
  kind: 'policy',
  code: 'MaxCallsExceeded',
  message: `the execution has had its ${most} calls (max_calls)`,
});

/** A refusal as one line, such as `ToolNotAllowed: …`. */
export const refusalText = ({ code, message }: Pick<ToolRefusal, 'code' | 'message'>): string => `${code}: ${message}`;
