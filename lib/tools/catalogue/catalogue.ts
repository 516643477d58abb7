import { agentTools } from './agent-tools.ts';
import { platformTools } from './platform-tools.ts';
import { resourcesTools } from './resources-tools.ts';
import type { ToolRow } from './row.ts';
import { workflowsTools } from './workflows-tools.ts';

/** Every tool of the specification, by name, whether or not this release runs it (spec 3 §10, spec 2 §4.6). */
export const catalogue: ReadonlyMap<string, ToolRow> = new Map(
  [...agentTools, ...platformTools, ...workflowsTools, ...resourcesTools].map((row) => [row.name, row]),
);
