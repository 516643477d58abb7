export { toCustomResource, toManifest } from './convert.ts';
export { formNames, type WorkflowForm } from './form-names.ts';
export { createManifestReader, type ManifestReader, manifestWorker } from './manifest-reader.ts';
export { objectName, userObjectName, workflowName } from './object-name.ts';
export { readManifest } from './read-manifest.ts';
export type { ManifestReading } from './reading.ts';
export { type ReadWorkflow, readWorkflows } from './read-workflows.ts';
export { writeYaml } from './write-yaml.ts';
export { type LocatedProblem, manifestBytes, type Position } from './yaml-document.ts';
