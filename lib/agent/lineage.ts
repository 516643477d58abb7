import { annotations } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';

/** Which agent began a family of executions, and how many starts by agents are behind an execution. */
export interface Lineage {
  /** Uid of the AgentExecution that no agent started. */
  readonly root: string;
  /** 0 for that one. */
  readonly depth: number;
}

interface Marked {
  readonly metadata: { readonly uid?: string; readonly annotations?: Readonly<Record<string, string>> };
}

/**
 * The lineage of an execution. Only our accounts write the marks: where one says nothing that we write, the family ends
 * there.
 */
export function lineageOf({ metadata }: Marked): Lineage {
  const { [annotations.agentRoot]: root, [annotations.agentDepth]: written } = metadata.annotations ?? {};
  if (root === undefined || written === undefined) return { root: metadata.uid ?? '', depth: 0 };
  return { root, depth: /^\d{1,3}$/.test(written) ? Number(written) : limits.agentDepthMax };
}

/** The marks of what an execution of an agent starts. */
export const lineageMarks = ({ root, depth }: Lineage): Record<string, string> => ({
  [annotations.agentRoot]: root,
  [annotations.agentDepth]: String(depth),
});

/** Children of a workflow have the depth of the workflow: a panel is no way around the bound. */
export function inheritedLineage({ metadata }: Marked): Record<string, string> {
  const root = metadata.annotations?.[annotations.agentRoot];
  return root === undefined ? {} : lineageMarks(lineageOf({ metadata }));
}
