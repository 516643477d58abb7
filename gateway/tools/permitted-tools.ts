import { createLoopTurns } from '../../lib/loop-turns.ts';
import type { GatewayTool } from './tool-source.ts';

/** How a list picks from the tools of a tenant. */
interface Choice {
  /** Patterns that one tool is tested by. */
  readonly patterns: number;
  readonly isPermitted: (tool: GatewayTool) => boolean;
  /** Tools that are wanted; those behind are not tested. Default: all. */
  readonly count?: number;
}

/** Tests of a name by a pattern between which nothing else is served: at most some 5 ms. */
const testsPerTurn = 10_000;

/** The first tools that are permitted, in their order. Many tests are spread over turns of the event loop. */
export async function permittedTools(
  tools: readonly GatewayTool[],
  { patterns, isPermitted, count = Number.POSITIVE_INFINITY }: Choice,
): Promise<GatewayTool[]> {
  const found: GatewayTool[] = [];
  const spend = createLoopTurns(testsPerTurn);
  for (const tool of tools) {
    if (found.length >= count) break;
    if (isPermitted(tool)) found.push(tool);
    await spend(patterns + 1);
  }
  return found;
}
