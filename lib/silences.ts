import { LRUCache } from 'lru-cache';

/** How long a peer has not answered, in looks without a gap. */
interface Silence {
  readonly looks: number;
  readonly lastsMs: number;
}

/** Peers that do not answer, by their keys. */
interface Silences {
  /** One more look without an answer: the silence so far. */
  again(key: string): Silence;
  end(key: string): void;
}

interface SilencesOptions {
  /** The clock, in milliseconds. */
  readonly now: () => number;
  /** Looks that are further apart say nothing of the time between them. */
  readonly apartMs: number;
  /** Peers that are remembered. */
  readonly remembered: number;
}

/** Counts looks at peers that do not answer. A gap between two looks begins anew. */
export function createSilences({ now, apartMs, remembered }: SilencesOptions): Silences {
  const known = new LRUCache<string, { readonly since: number; readonly looks: number; readonly lookedAt: number }>({
    max: remembered,
  });
  return {
    again(key) {
      const lookedAt = now();
      const before = known.get(key);
      const isOn = before !== undefined && lookedAt - before.lookedAt <= apartMs;
      const { since, looks } = isOn ? before : { since: lookedAt, looks: 0 };
      known.set(key, { since, looks: looks + 1, lookedAt });
      return { looks: looks + 1, lastsMs: lookedAt - since };
    },
    end: (key) => void known.delete(key),
  };
}
