export type { Classifier, ClassifyRequest } from './classifier.ts';
export { contentOfBytes, contentOfText } from './content.ts';
export { createStimuli, type Stimuli, type StimuliDeps } from './create-stimuli.ts';
export type { Ingest, Ingested, Submission } from './ingest.ts';
export { IngestError, type IngestOutcome } from './ingest-error.ts';
export type { RoutingTable } from './routing-table.ts';
