import { aborted } from '../lib/aborted.ts';
import type { Clock } from '../lib/clock.ts';
import { startDeadline } from '../lib/deadline.ts';
import { createHttpApp, type HttpApp, type Listener, listen } from '../lib/http/index.ts';
import { type Caller, requireOneOf } from '../lib/identity/index.ts';
import type { ApiDeps } from './api-deps.ts';
import { openTransports, type Transports } from './open-transports.ts';
import { createRoutes } from './routes/index.ts';
import { createInternalRoutes } from '../lib/http/service/index.ts';
import { createServices, type Services } from './services.ts';

/**
 * Runs one replica of the API to its end; resolves to the exit code of the process. The internal listener is there from
 * first to last, so that it can always be asked how the replica is; the public one opens when the caches are filled.
 * At the stop agents begin to leave beside the drain: calls of their tools may take as long as the grace of the process.
 */
export async function runApi(deps: ApiDeps): Promise<number> {
  const { config, runtime, logger, clock } = deps;
  const services = createServices(deps);
  const state = { isServing: false };
  const internal = await open(deps, internalApp(deps, services, state), config.WINDLASS_INTERNAL_PORT);
  try {
    await services.start(runtime.stop);
    if (runtime.stop.aborted) return 0;
    deps.onLoaded();
    const transports = await openAll(deps, services);
    state.isServing = true;
    logger.info({ port: transports.port, internalPort: internal.port }, 'serving');
    await aborted(runtime.stop);
    state.isServing = false;
    using patience = startDeadline(clock, requestsMs, runtime.abandon);
    // Until all senders know that it stops, this replica still takes requests.
    await clock.sleep(config.WINDLASS_DRAIN_SECONDS * 1_000, patience.signal);
    await transports.close(patience.signal);
    return 0;
  } finally {
    await services.close();
    await closeInternal(internal, clock, runtime.abandon);
  }
}

/** How long requests under way may take after the signal to stop. */
const requestsMs = 20_000;
/** How long those of the internal listener may take once nothing runs behind it. */
const lastRequestsMs = 2_000;

async function closeInternal(internal: Listener, clock: Clock, abandon: AbortSignal): Promise<void> {
  using patience = startDeadline(clock, lastRequestsMs, abandon);
  await internal.close(patience.signal);
}

function open({ config }: ApiDeps, app: HttpApp, port: number): Promise<Listener> {
  return listen(app, { port, host: config.WINDLASS_HTTP_HOST });
}

/** The public listener and the other ways in: all of them, or none. A sensor cannot give back what it has read, so it comes last. */
async function openAll(deps: ApiDeps, services: Services): Promise<Transports & Pick<Listener, 'port'>> {
  const { stimuli, cluster, rateLimit } = services.routes;
  const { registry } = deps.metrics;
  const listener = await open(deps, publicApp(deps, services), deps.config.WINDLASS_HTTP_PORT);
  try {
    const transports = await openTransports({
      ...deps,
      registry,
      rateLimit,
      ingest: stimuli.ingest,
      tenants: cluster.tenants,
    });
    const close = async (abandon: AbortSignal): Promise<void> => {
      await Promise.all([listener.close(abandon), transports.close(abandon)]);
    };
    return { port: listener.port, close };
  } catch (error) {
    await listener.close(AbortSignal.abort());
    throw error;
  }
}

function publicApp(deps: ApiDeps, services: Services): HttpApp {
  const routes = createRoutes(services.routes);
  services.operations.serve(routes);
  return createHttpApp({
    ...deps,
    routes,
    authenticate: services.authenticate,
    tenantOf: (caller) => caller.tenant,
    authorize: requireOneOf,
    validUntil: (caller) => caller.until,
    rateLimit: services.routes.rateLimit,
  });
}

function internalApp(deps: ApiDeps, services: Services, state: { readonly isServing: boolean }): HttpApp {
  const serving = (): string | undefined => (state.isServing ? undefined : 'the public listener is closed');
  return createHttpApp({
    ...deps,
    routes: [
      ...createInternalRoutes<Caller>({ ready: { ...services.ready, serving }, registry: deps.metrics.registry }),
      ...services.agents.routes<Caller>(),
    ],
    authenticate: services.authenticate,
    tenantOf: (caller) => caller.tenant,
  });
}
