import type { Agent } from '../../crds/schema/agent.ts';
import type { Problem } from '../../crds/problem.ts';
import type { NodeConfig } from '../node-config/index.ts';
import { aliasWarnings } from './asked-aliases.ts';
import type { KnownAgents } from './find-agent.ts';
import { judgeWarnings } from './judge-name.ts';
import { priceWarnings } from './price-warnings.ts';

interface Surroundings {
  readonly agents: KnownAgents;
  readonly nodeConfig: NodeConfig;
}

/** Things that a legal definition names and does not find around it now, such as a judge, a model or its price. */
export const agentWarnings = ({ agents, nodeConfig }: Surroundings, agent: Agent): readonly Problem[] => [
  ...judgeWarnings(agents, agent),
  ...aliasWarnings(nodeConfig, agent.spec),
  ...priceWarnings(nodeConfig, agent.spec),
];
