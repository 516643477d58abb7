export { contentOfText } from './content.ts';
export { createStimuli, type Stimuli } from './create-stimuli.ts';
export type { Ingest, Submission } from './ingest.ts';
export { IngestError, type IngestOutcome } from './ingest-error.ts';
export { TooManyQuestionsError } from './too-many-questions.ts';
