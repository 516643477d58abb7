import { expect, it } from 'vitest';
import type { StimulusRouter } from '../../crds/schema/stimulus-router.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { routerInformer } from './informer.ts';

it('the cache of routers keeps nothing that others wrote on one', () => {
  const deps = { client: {} as never, kube: {} as never, clock: createManualClock(), logger: silentLogger };
  const kept = { 'windlass.dev/tenant': 'a' };
  const router = {
    metadata: {
      name: 'r',
      namespace: 'a',
      uid: 'u',
      resourceVersion: '1',
      labels: { ...kept, theirs: 'x' },
      annotations: { theirs: 'x'.repeat(200_000) },
    },
    spec: { routes: {} },
  } as unknown as StimulusRouter;
  const routers = routerInformer.open(deps);
  routers.cache.remember(router);
  const { labels, annotations } = routers.cache.get('a/r')?.metadata ?? {};
  expect({ labels, annotations }).toEqual({ labels: kept, annotations: {} });
});
