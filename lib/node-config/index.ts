export { loadNodeConfig, nodeConfigVariables } from './load-node-config.ts';
export { emptyNodeConfig, type McpPod, type McpServerEntry, type NodeConfig } from './node-config.ts';
export { readNodeConfig } from './read-node-config.ts';
export { nodeConfigLimits } from './schema.ts';
export { Secret } from './secret.ts';
