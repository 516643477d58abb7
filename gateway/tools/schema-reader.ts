import type { Clock } from '../../lib/clock.ts';
import { createFairPool } from '../../lib/fair-pool.ts';
import { heapBytes } from '../../lib/heap-bytes.ts';
import type { KubeObject } from '../../lib/kube/index.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import { createSharedCache } from '../../lib/shared-cache.ts';
import type { JsonObject } from './tool-source.ts';

/** Gives the schemas that caches of objects keep apart. */
export interface SchemaReader {
  /**
   * The schema of one version of an object: `read` is called where no reader of late had it, and once for those who ask at the same
   * time. Undefined where `read` finds none. Rejects as `read` does, and with AppError `unavailable` where no turn comes.
   */
  schemaOf(object: KubeObject, read: () => Promise<JsonObject | undefined>): Promise<JsonObject | undefined>;
}

/**
 * Bytes of heap of the texts of schemas, of all tenants. As text, a schema takes a part of what its objects take: of most
 * tenants all large schemas stay, and the next list of them asks for nothing.
 */
const maxBytes = bytesOf('schemas of tools');
/** The share of one tenant: three quarters. */
const tenantBytes = (maxBytes * 3) / 4;
/** Reads of all lists and calls that are under way at one time, and those that wait. The API server is everybody's. */
export const schemaReads = { size: 8, waiting: 1_024, waitMs: 10_000 } as const;

interface Text {
  readonly json: string;
}

export function createSchemaReader(clock: Clock): SchemaReader {
  const texts = createSharedCache<Text>({
    maxBytes,
    tenantBytes,
    weigh: (text) => heapBytes(text, tenantBytes),
  });
  const turns = createFairPool({ ...schemaReads, clock });
  const underWay = new Map<string, Promise<string | undefined>>();
  const fetch = async (tenant: string, key: string, read: () => Promise<JsonObject | undefined>) => {
    const schema = await turns.run({ tenant }, read);
    if (schema === undefined) return undefined;
    const json = JSON.stringify(schema);
    texts.set(tenant, key, { json });
    return json;
  };
  return {
    async schemaOf({ metadata: { namespace: tenant = '', uid, resourceVersion } }, read) {
      const key = `${uid}@${resourceVersion}`;
      const known = texts.get(tenant, key);
      if (known !== undefined) return JSON.parse(known.json) as JsonObject;
      const reading = underWay.get(key) ?? fetch(tenant, key, read).finally(() => underWay.delete(key));
      underWay.set(key, reading);
      const json = await reading;
      return json === undefined ? undefined : (JSON.parse(json) as JsonObject);
    },
  };
}
