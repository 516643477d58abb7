import { aborted } from '../lib/aborted.ts';
import { createHttpApp, type HttpApp, type Listener, listen } from '../lib/http/index.ts';
import { createInternalRoutes } from '../lib/http/service/index.ts';
import { isBypass } from './config.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import type { Operator } from './identity/operator.ts';
import { createRoutes } from './routes/index.ts';
import { createServices, type Services } from './services.ts';
import { marked } from './bypass.ts';

/**
 * Runs one replica of the gateway to its end; resolves to the exit code of the process. The internal listener opens
 * first and closes last; the public one opens when the caches are filled and the key of tokens is known.
 */
export async function runGateway(deps: GatewayDeps): Promise<number> {
  const { config, runtime, logger, clock } = deps;
  if (isBypass(config)) logger.warn({ variable: 'SEAL_GATEWAY_AUTH_DISABLED' }, 'both lanes are open to everybody');
  const services = createServices(deps);
  const state = { isServing: false };
  const internal = await open(deps, internalApp(deps, services, state), config.SEAL_GATEWAY_INTERNAL_PORT);
  try {
    await services.start(runtime.stop);
    if (runtime.stop.aborted) return 0;
    deps.onLoaded();
    const listener = await open(deps, publicApp(deps, services), config.SEAL_GATEWAY_PORT);
    state.isServing = true;
    logger.info({ port: listener.port, internalPort: internal.port }, 'serving');
    await aborted(runtime.stop);
    state.isServing = false;
    // Until everybody who sends requests has heard of it, this replica takes them still.
    await clock.sleep(config.WINDLASS_DRAIN_SECONDS * 1_000, runtime.abandon);
    await listener.close(runtime.abandon, runtime.breakOff);
    return 0;
  } finally {
    await services.close();
    await internal.close(runtime.abandon);
  }
}

function open({ config }: GatewayDeps, app: HttpApp, port: number): Promise<Listener> {
  return listen(app, { port, host: config.WINDLASS_HTTP_HOST });
}

function publicApp(deps: GatewayDeps, services: Services): HttpApp {
  const app = createHttpApp<Operator>({
    ...deps,
    routes: createRoutes(services.routes),
    authenticate: services.authenticate,
    tenantOf: ({ tenant }) => tenant ?? '',
    validUntil: ({ until }) => until,
    rateLimit: services.routes.rateLimit,
  });
  return isBypass(deps.config) ? marked(app) : app;
}

function internalApp(deps: GatewayDeps, services: Services, state: { readonly isServing: boolean }): HttpApp {
  const serving = (): string | undefined => (state.isServing ? undefined : 'the public listener is closed');
  return createHttpApp<Operator>({
    ...deps,
    routes: createInternalRoutes<Operator>({ ready: { ...services.ready, serving }, registry: deps.metrics.registry }),
    authenticate: services.authenticate,
    tenantOf: ({ tenant }) => tenant ?? '',
  });
}
