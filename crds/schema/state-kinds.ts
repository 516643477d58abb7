/** spec 1 §2.6: the seven state kinds. */
export const stateKinds = [
  'Agent',
  'System',
  'Human',
  'ParallelAgents',
  'ContainerRun',
  'ParallelContainerRun',
  'Subworkflow',
] as const;
export type StateKind = (typeof stateKinds)[number];
