import { describe, expect, it } from 'vitest';
import type { Volume } from '../../crds/schema/volume.ts';
import { createCache } from '../../lib/informer/cache.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { rememberVolumes } from './remember-volumes.ts';

const execution = anExecution('x').build();
const namespace = execution.metadata.namespace ?? '';

const volumeIn = (phase: 'pending' | 'ready' | 'expired', resourceVersion: string): Volume => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'Volume',
  metadata: { name: 'x-workspace', namespace, uid: 'v', resourceVersion },
  spec: { storage_class: 'ephemeral' },
  status: { phase },
});

/** The phase in the cache after a look, and how often the server was asked. */
async function look(cached: readonly Volume[], onServer?: Volume) {
  let asked = 0;
  const volumes = createCache<Volume>();
  volumes.replaceAll(cached, '5');
  const get = async () => {
    asked += 1;
    if (onServer !== undefined) return onServer;
    throw new KubeError(404, { reason: 'NotFound' } as never, { verb: 'get', resource: 'volumes' });
  };
  const status = { ...execution.status, phase: 'running' as const, volumes: { workspace: { volume: 'x-workspace' } } };
  await rememberVolumes({ kube: { get } as never, caches: { volumes } }, { ...execution, status });
  return { phase: volumes.get(`${namespace}/x-workspace`)?.status?.phase, asked };
}

describe('D8 the volumes of an execution that has begun', () => {
  it.each([
    {
      what: 'a cache that is behind does not know',
      cached: [],
      onServer: volumeIn('ready', '9'),
      phase: 'ready',
      asked: 1,
    },
    {
      what: 'a cache that is behind knows pending',
      cached: [volumeIn('pending', '4')],
      onServer: volumeIn('ready', '9'),
      phase: 'ready',
      asked: 1,
    },
    {
      what: 'has expired',
      cached: [volumeIn('expired', '4')],
      onServer: volumeIn('expired', '4'),
      phase: 'expired',
      asked: 1,
    },
    { what: 'is gone', cached: [], onServer: undefined, phase: undefined, asked: 1 },
    { what: 'is ready', cached: [volumeIn('ready', '4')], onServer: undefined, phase: 'ready', asked: 0 },
  ])('one that $what is asked for $asked times', async ({ cached, onServer, phase, asked }) => {
    expect(await look(cached, onServer)).toEqual({ phase, asked });
  });
});
