import type { Workflow } from '../../crds/schema/workflow.ts';
import { heapBytes } from '../heap-bytes.ts';
import { slimMetadata } from '../informer/slim-metadata.ts';

/** A definition of less heap than this is kept as it came: most are. */
const smallBytes = 16 * 1024;
/** Bytes of heap of labels and annotations, and of a description, that are kept of a larger one. */
const shownBytes = 4 * 1024;

/** The kept part of a workflow in a cache: all of a small one, the fields of a list of a large one. */
export interface ListedWorkflow extends Workflow {
  /** Labels, annotations or the description are too large to be kept: a list reads the object for them. */
  readonly isCut?: true;
}

/** Without the content of a large definition, whose parsed form may take fifteen times its 1.5 MiB (design §11). */
export function listedWorkflow(workflow: Workflow): ListedWorkflow {
  if (isBelow(workflow, smallBytes)) return workflow;
  const { metadata, spec, status, ...kinds } = workflow;
  const { labels, annotations } = metadata;
  const own = slimMetadata(metadata);
  const shown = isBelow([labels, annotations], shownBytes) ? { ...own, labels, annotations } : undefined;
  const isDescribed = isBelow(spec.description, shownBytes);
  return {
    ...kinds,
    metadata: shown ?? own,
    spec: {
      version: spec.version,
      initial_state: spec.initial_state,
      states: {},
      ...(isDescribed && spec.description !== undefined && { description: spec.description }),
    },
    ...(status !== undefined && { status: { ...status, versions: undefined } }),
    ...((shown === undefined || !isDescribed) && { isCut: true }),
  };
}

/** A definition has states: one without them was cut by `listedWorkflow`. */
export const isWholeWorkflow = ({ spec }: Workflow): boolean => Object.keys(spec.states).length > 0;

const isBelow = (value: unknown, bytes: number): boolean => heapBytes(value, bytes) < bytes;
