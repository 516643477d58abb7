export { createStimuliRoutes } from './handler.ts';
