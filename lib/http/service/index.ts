import type { Registry } from 'prom-client';
import type { Contract } from '../contract.ts';
import { HttpError } from '../http-error.ts';
import { defineRoute, json, type Route } from '../route.ts';
import type { HealthCheck } from '../../process/health-server.ts';
import { readHealth, readMetrics, readReadiness } from './contract.ts';

export const contracts: readonly Contract[] = [readHealth];

/** `/health` says that the process runs, and nothing about its dependencies: the caller has no identity. */
export function createHealthRoutes<Caller>(): Route<Caller>[] {
  return [defineRoute(readHealth, async () => json({ status: 'ok' }))];
}

interface InternalRoutesDeps {
  /** Each must pass before the replica is sent requests. */
  readonly ready: Readonly<Record<string, HealthCheck>>;
  readonly registry: Registry;
}

/** Operations for the cluster's own machinery. */
export function createInternalRoutes<Caller>({ ready, registry }: InternalRoutesDeps): Route<Caller>[] {
  return [
    ...createHealthRoutes<Caller>(),
    defineRoute(readReadiness, async () => {
      const details = Object.entries(ready).flatMap(([path, check]) => {
        const message = check();
        return message === undefined ? [] : [{ path, message }];
      });
      if (details.length > 0) throw new HttpError({ code: 'unavailable', message: 'not ready', details });
      return json({ status: 'ready' });
    }),
    defineRoute(readMetrics, async () => ({
      kind: 'text',
      text: await registry.metrics(),
      mediaType: registry.contentType,
    })),
  ];
}
