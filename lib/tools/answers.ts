import type { ToolAnswer } from './tool.ts';

export const answer = (content: string): ToolAnswer => ({ content, isError: false });

/** An error that the tool itself gives, as `NOT_FOUND: …` (requirements AMB-130). */
export const failure = (code: string, message: string): ToolAnswer => ({
  content: `${code}: ${message}`,
  isError: true,
});
