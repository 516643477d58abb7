import type { Adapter, AdapterPayload } from 'oidc-provider';

interface Entry {
  readonly payload: AdapterPayload;
  readonly expiresAt: number;
}

/** A provider's memory of sessions, grants and codes. It outlives a provider that is replaced for other keys. */
export interface Memory {
  adapter(model: string): Adapter;
}

/** Entries beyond this many are forgotten, oldest first. */
const capacity = 10_000;

export function createMemory(): Memory {
  const entries = new Map<string, Entry>();

  function live(key: string): AdapterPayload | undefined {
    const entry = entries.get(key);
    return entry !== undefined && entry.expiresAt > Date.now() ? entry.payload : undefined;
  }

  async function findWhere(model: string, matches: (payload: AdapterPayload) => boolean) {
    for (const key of entries.keys()) {
      const payload = key.startsWith(`${model}:`) ? live(key) : undefined;
      if (payload !== undefined && matches(payload)) return payload;
    }
    return undefined;
  }

  return {
    adapter: (model) => ({
      async upsert(id, payload, expiresIn) {
        const key = `${model}:${id}`;
        entries.delete(key);
        entries.set(key, { payload, expiresAt: Date.now() + (expiresIn ?? 86_400) * 1_000 });
        if (entries.size > capacity) entries.delete(entries.keys().next().value ?? '');
      },
      find: async (id) => live(`${model}:${id}`),
      findByUid: (uid) => findWhere(model, (payload) => payload.uid === uid),
      findByUserCode: (userCode) => findWhere(model, (payload) => payload.userCode === userCode),
      async consume(id) {
        const payload = live(`${model}:${id}`);
        if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1_000);
      },
      async destroy(id) {
        entries.delete(`${model}:${id}`);
      },
      async revokeByGrantId(grantId) {
        for (const [key, { payload }] of entries) if (payload.grantId === grantId) entries.delete(key);
      },
    }),
  };
}
