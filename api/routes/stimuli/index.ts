export { submitStimulus } from './contract.ts';
export { createStimuliRoutes, type StimuliDeps } from './handler.ts';
