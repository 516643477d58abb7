import type { Registered } from '../../lib/api-spec/index.ts';
import type { GatewayInformers } from '../cluster/cluster.ts';

/** Every object of a namespace that has, or claims, the name of a tool: both kinds share their names (AMB-124). */
export const toolRivals =
  ({ toolWorkflows, cliTools }: Pick<GatewayInformers, 'toolWorkflows' | 'cliTools'>) =>
  (namespace: string): readonly Registered[] => [
    ...toolWorkflows.cache.byIndex('namespace', namespace),
    ...cliTools.cache.byIndex('namespace', namespace),
  ];
