import type { AgentSpec } from '../../crds/schema/agent.ts';

/** Names of tools that run in the container of the agent begin so (spec 3 §10.3, §10.5). */
const inPod = ['fs.', 'cmd'] as const;

/** Whether tools of this name run in the container; `*` offers such as well. */
export const toolRunsInPod = (name: string): boolean => name === '*' || inPod.some((begin) => name.startsWith(begin));

/** Whether executions of an agent have a container: it uses files or commands, or mounts a volume. */
export const needsPod = (
  { tools = [], volumes = [] }: Pick<AgentSpec, 'tools' | 'volumes'>,
  mounts: readonly unknown[] = [],
): boolean => mounts.length + volumes.length > 0 || tools.some(({ name }) => toolRunsInPod(name));
