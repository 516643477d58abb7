import type { ToolCall, ToolCallSpec } from '../../crds/schema/tool-call.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { toolCalls } from '../../lib/kinds.ts';
import { ownedObject } from './create-child.ts';
import { type CreateNamedDeps, createNamed } from './create-named.ts';

interface Wish {
  readonly name: string;
  readonly spec: ToolCallSpec;
}

/** The tool call of one visit of a state, made once. Only the controllers make one. */
export async function createToolCall(
  deps: CreateNamedDeps,
  parent: WorkflowExecution,
  { name, spec }: Wish,
): Promise<ToolCall | undefined> {
  return createNamed(deps, parent, {
    resource: toolCalls,
    name,
    build: (as) => ownedObject(parent, 'ToolCall', { name: as, spec }),
    isOurs: (there) => placeOf(there.spec) === placeOf(spec),
  });
}

/** Which visit it is for. */
const placeOf = ({ parent }: ToolCallSpec): string => JSON.stringify([parent.uid, parent.state, parent.visit]);
