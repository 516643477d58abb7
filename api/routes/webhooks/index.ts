export { createWebhookRoutes } from './handler.ts';
export { secretsFromEnvironment, type WebhookSecrets } from './secrets.ts';
