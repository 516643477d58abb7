import type { GatewayClient } from '../../client/index.ts';
import type { ToolWorkflowReason } from '../../crds/conditions.ts';
import { allRows, gatewayKinds, type GatewayRow, type GatewayToolRow, readyText } from './kinds.ts';

/** A tool, and the verdict of the controllers where its source has one. */
export interface JudgedTool extends GatewayToolRow {
  readonly ready: string | undefined;
}

/** Kinds of custom resources that are tools, by the source that they are in the unified list. */
const kindOfSource: Partial<Record<GatewayToolRow['source'], string>> = { workflow: 'ToolWorkflow', cli: 'CliTool' };

/**
 * The tools with their verdicts. The unified list has none (requirements AMB-196), so that the lists of the kinds among
 * them are read as well.
 */
export async function judgedTools(client: GatewayClient, tools: readonly GatewayToolRow[]): Promise<JudgedTool[]> {
  const sources = new Set(tools.map(({ source }) => source));
  const registered = new Map<GatewayToolRow['source'], readonly GatewayRow[]>();
  for (const source of sources) {
    const kind = gatewayKinds.find((one) => one.kind === kindOfSource[source]);
    if (kind !== undefined) registered.set(source, await allRows(kind, client));
  }
  return tools.map((tool) => {
    const row = registered.get(tool.source)?.find((one) => isObjectOf(tool, one));
    return { ...tool, ready: row && readyText(row) };
  });
}

/** Several objects may claim one name; the tool is the one that has it. */
const isObjectOf = ({ name }: GatewayToolRow, row: GatewayRow): boolean =>
  row.name === name && row.ready?.reason !== ('NameTaken' satisfies ToolWorkflowReason);
