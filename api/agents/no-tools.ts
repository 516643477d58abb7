import type { Toolbox } from '../../lib/tools/tool.ts';

/** Until the registry of tools is there. */
export const noTools: Toolbox = {
  offered: () => [],
  admit: (_caller, name) => ({ kind: 'unknown_tool', code: 'ToolNotAllowed', message: `there is no tool ${name}` }),
  isJudged: () => true,
};
