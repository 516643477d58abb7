import type { JetStreamManager } from '@nats-io/jetstream';
import { messageOf } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { sharesAbove } from '../shares-above.ts';
import { headBytes } from './limits.ts';

/** Part of a stream that its subjects fill. The rest is for what comes until the shares are taken anew. */
const filled = 0.8;

/** Shares are taken anew when this process has published so much of a stream, and until then it publishes so much at most. */
const anewAfter = 1 / 128;
const aheadAtMost = 1 / 32;

/** Assumed size of an event where none has been stored yet, in bytes. */
const eventBytes = 1_024;

/** Content of a stream. */
interface StreamUse {
  readonly messages: number;
  readonly bytes: number;
  /** Messages of each subject. */
  readonly subjects: ReadonlyMap<string, number>;
}

/**
 * The most messages that one subject may have, so that all of them fit (ADR 0048). Where they do not fit, it is the level
 * of water poured into the subjects: who has less keeps everything. Where they do, one subject may take what is free. Pure.
 */
export function subjectShare({ messages, bytes, subjects }: StreamUse, maxBytes: number): number {
  const room = Math.floor((maxBytes * filled) / (messages === 0 ? eventBytes : bytes / messages));
  const [level] = sharesAbove(subjects, room).values();
  const largest = Math.max(0, ...subjects.values());
  return Math.max(1, level ?? largest + room - messages);
}

/** Keeps what one tenant publishes from displacing what another one has published: the server enforces the shares. */
export interface StreamShares {
  /** A body of so many bytes is to be published. Waits where too much was since the shares were taken. Never rejects. */
  admit(stream: string, bytes: number): Promise<void> | undefined;
  /** Takes the shares of one more stream. Never rejects. */
  add(stream: SharedStream): Promise<void>;
}

interface StreamSharesDeps {
  readonly streams: Pick<JetStreamManager['streams'], 'info' | 'update'>;
  readonly logger: Logger;
}

/** A stream whose subjects belong to one tenant each, and the bytes that it may take. */
interface SharedStream {
  readonly name: string;
  readonly maxBytes: number;
}

/** Takes the shares for the first time before it resolves. Never rejects. */
export async function openShares(deps: StreamSharesDeps, shared: readonly SharedStream[]): Promise<StreamShares> {
  const keepers = new Map(shared.map((stream) => [stream.name, createKeeper(deps, stream)]));
  await Promise.all([...keepers.values()].map((keeper) => keeper.refresh()));
  return {
    admit: (stream, bytes) => keepers.get(stream)?.admit(bytes + headBytes),
    add: (stream) => {
      const keeper = createKeeper(deps, stream);
      keepers.set(stream.name, keeper);
      return keeper.refresh();
    },
  };
}

function createKeeper({ streams, logger }: StreamSharesDeps, { name, maxBytes }: SharedStream) {
  let since = 0;
  let refreshing: Promise<void> | undefined;
  let isToldOf = false;

  const takeAnew = async (): Promise<void> => {
    const counted = since;
    try {
      const { state, config } = await streams.info(name, { subjects_filter: '>' });
      const share = subjectShare({ ...state, subjects: new Map(Object.entries(state.subjects ?? {})) }, maxBytes);
      if (share !== config.max_msgs_per_subject) await streams.update(name, { max_msgs_per_subject: share });
    } catch (error) {
      // Where the server does not let us change the stream, it says so each time.
      if (!isToldOf) logger.warn({ stream: name, problem: messageOf(error) }, 'shares of a stream not taken');
      isToldOf = true;
    } finally {
      // Only now: what is published meanwhile waits in its order.
      since -= counted;
    }
  };
  const refresh = (): Promise<void> => (refreshing ??= takeAnew().finally(() => (refreshing = undefined)));
  return {
    refresh,
    admit(bytes: number): Promise<void> | undefined {
      const isAhead = since > maxBytes * aheadAtMost;
      if (since + bytes >= maxBytes * anewAfter) void refresh();
      if (isAhead) return refresh().then(() => this.admit(bytes));
      since += bytes;
      return undefined;
    },
  };
}
