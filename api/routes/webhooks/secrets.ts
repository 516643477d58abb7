import type { Environment } from '../../../lib/config.ts';
import { isWebhookSource } from '../../../lib/stimulus/source-claims.ts';

/** The secret of a source; undefined where none is configured. */
export type WebhookSecrets = (source: string) => string | undefined;

const prefix = 'SVC_WEBHOOK_SECRET_';

/**
 * Secrets from the environment (spec 1 §5.3). Sources that differ in `-` and `.` alone share one (AMB-044); an empty
 * one counts as none; a source that is no slug has none (AMB-043).
 */
export function secretsFromEnvironment(env: Environment): WebhookSecrets {
  const secrets = new Map(Object.entries(env).filter(([name, value]) => name.startsWith(prefix) && value !== ''));
  return (source) => (isWebhookSource(source) ? secrets.get(secretVariable(source)) : undefined);
}

/** `my-ci` → `SVC_WEBHOOK_SECRET_MY_CI`. */
function secretVariable(source: string): string {
  return prefix + source.toUpperCase().replaceAll(/[-.]/g, '_');
}
