import { Counter, Gauge, type Registry } from 'prom-client';
import manifest from '../../package.json' with { type: 'json' };

/** Which version a process is of: always 1, for joining with what else it says. */
export function registerBuildInfo(registry: Registry): void {
  new Gauge({
    name: 'windlass_build_info',
    help: 'Always 1; the label says which version runs.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version: manifest.version }, 1);
}

/** Requests to the API server of Kubernetes, under the name that its own clients use. */
export const createKubeRequests = (registry: Registry): Counter<'verb' | 'resource' | 'code'> =>
  new Counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the Kubernetes API.',
    labelNames: ['verb', 'resource', 'code'],
    registers: [registry],
  });
