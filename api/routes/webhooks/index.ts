export { receiveWebhook } from './contract.ts';
export { createWebhookRoutes, type WebhookDeps } from './handler.ts';
export { secretsFromEnvironment, type WebhookSecrets } from './secrets.ts';
