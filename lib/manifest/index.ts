export { toAgent, toAgentManifest } from './convert-agent.ts';
export { toCustomResource, toManifest } from './convert.ts';
export { formNames, type WorkflowForm } from './form-names.ts';
export { givenMetadata, isObjectLabel, keptLabels } from './given-metadata.ts';
export {
  createManifestReader,
  createOpenApiReader,
  type ManifestReader,
  manifestWorker,
  type OpenApiReader,
} from './manifest-reader.ts';
export { objectName, userObjectName, workflowName } from './object-name.ts';
export { type ReadAgent, readAgents, readOneAgent } from './read-agents.ts';
export { readManifest } from './read-manifest.ts';
export type { ManifestReading } from './reading.ts';
export { type ReadWorkflow, readWorkflows } from './read-workflows.ts';
export { writeYaml } from './write-yaml.ts';
export { type LocatedProblem, manifestBytes, type Position } from './yaml-document.ts';
