import { annotations, labels } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';

type Noted = Pick<WorkflowExecution, 'metadata'>;

/** Marks of executions that Windlass makes. Admission lets no other writer give one, at creation or later. */
const markLabels = [labels.stimulus, labels.parentUid, labels.cliTool];
const markAnnotations = [annotations.startedBy, annotations.linkedFrom];

/** The marks that an execution has, by which readers believe what it notes of its workflow. */
export function marksOfOurs({ metadata }: Noted): Pick<Noted['metadata'], 'labels' | 'annotations'> {
  return { labels: picked(metadata.labels, markLabels), annotations: picked(metadata.annotations, markAnnotations) };
}

/**
 * Uid of the workflow that an execution is of, as its maker noted it before anything began. A user of kubectl
 * writes any label: the note counts only beside a mark of ours.
 */
export function notedWorkflow(execution: Noted): string | undefined {
  const found = marksOfOurs(execution);
  const isOurs = [found.labels, found.annotations].some((map) => map !== undefined);
  return isOurs ? execution.metadata.labels?.[labels.workflowUid] : undefined;
}

function picked(map: Readonly<Record<string, string>> | undefined, keys: readonly string[]) {
  const entries = keys.flatMap((key) => (map?.[key] === undefined ? [] : [[key, map[key]] as const]));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
