import type { AgentSpec } from '../../crds/schema/agent.ts';

/** Alias of an agent's model: `default` where its spec omits `runtime.model` or all of `runtime` (spec 1 §2.1). */
export const modelAliasOf = ({ runtime }: Pick<AgentSpec, 'runtime'>): string => runtime?.model ?? 'default';
