import { archiveLimits } from '../../../lib/archive/limits.ts';
import { createBell } from '../../../lib/bell.ts';
import { busLimits, type EventBus } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import { conversationLogs } from '../../../lib/conversation/record.ts';
import type { ConversationFeed, ConversationListener } from './feed.ts';
import { readRecords } from './read-entries.ts';

/** Where a driver sends word of a new record or of a piece of text. */
export const liveAddress = (executionId: string) => ({ service: 'agent.live', key: executionId });

/** A listener that missed the news looks for itself after so long. */
const lookAgainMs = 10_000;

/** News of one conversation: the place of a new record, or a piece of text. */
export type LiveNews = { readonly sequence: number } | { readonly text: string };

/** Reads conversations from the stream, and hears of news over core NATS. */
export function createConversationFeed(bus: EventBus, clock: Clock): ConversationFeed {
  const stream = bus.logs(conversationLogs);
  return {
    async read(tenant, key, after, { isSmall = false, reserve } = {}) {
      const bytes = isSmall ? busLimits.smallPageBytes : archiveLimits.bytesOfPage;
      return readRecords(await stream.read({ tenant, key, after, bytes }), reserve);
    },
    listen: (executionId, onText) => openListener(bus, clock, executionId, onText),
  };
}

function openListener(
  bus: EventBus,
  clock: Clock,
  executionId: string,
  onText: ((text: string) => void) | undefined,
): ConversationListener {
  const bell = createBell(clock);
  const responder = bus.serve(
    liveAddress(executionId),
    async ({ body }) => {
      const news = JSON.parse(Buffer.from(body).toString('utf8')) as LiveNews;
      if ('text' in news) onText?.(news.text);
      else bell.ring();
      return '';
    },
    { replicas: 'every' },
  );
  return {
    ready: responder.ready,
    news: (signal) => bell.wait(lookAgainMs, signal),
    wake: bell.ring,
    async [Symbol.asyncDispose]() {
      await responder.close(0);
    },
  };
}
