import type { ConversationRecord } from '../../lib/conversation/record.ts';
import type { ConversationFeed, ConversationListener, PlacedRecord } from '../../api/agents/conversation/feed.ts';

/** A feed for tests: records of one conversation, with gaps between their places, two to a page. */
export interface MemoryFeed extends ConversationFeed {
  add(record: ConversationRecord): void;
  say(text: string): void;
  /** Readers that have not gone. */
  readonly listeners: number;
}

const pageSize = 2;
const gap = 3;

interface Hearer {
  readonly news: () => void;
  readonly text: (text: string) => void;
}

export function createMemoryFeed(...first: ConversationRecord[]): MemoryFeed {
  const records: PlacedRecord[] = [];
  const hearers = new Set<Hearer>();
  const feed: MemoryFeed = {
    add(record) {
      records.push({ sequence: (records.length + 1) * gap, record });
      for (const { news } of hearers) news();
    },
    say(text) {
      for (const hearer of hearers) hearer.text(text);
    },
    get listeners() {
      return hearers.size;
    },
    read: async (_tenant, _id, after) => records.filter(({ sequence }) => sequence > after).slice(0, pageSize),
    listen: (_id, onText) => openListener(hearers, onText),
  };
  for (const record of first) feed.add(record);
  return feed;
}

function openListener(hearers: Set<Hearer>, onText: (text: string) => void = () => undefined): ConversationListener {
  let isNews = false;
  let wake = (): void => undefined;
  const hearer = {
    text: onText,
    news: () => {
      isNews = true;
      wake();
    },
  };
  hearers.add(hearer);
  return {
    ready: Promise.resolve(),
    async news(signal) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
      if (isNews || signal.aborted) resolve();
      await promise;
      isNews = false;
    },
    wake: hearer.news,
    async [Symbol.asyncDispose]() {
      hearers.delete(hearer);
    },
  };
}
