export { planRegistration, type Registration, type RegistrationFacts } from './plan-registration.ts';
export { readWorkflow } from './read-workflow.ts';
export { registerWorkflow } from './register-workflow.ts';
export { specOfVersion } from './stored-version.ts';
