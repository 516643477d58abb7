import { once } from 'node:events';
import type { EdgeEventCase } from '../../lib/edge/index.ts';
import { daemonLimits } from '../limits.ts';
import type { EdgeStream } from './relay-client.ts';

/** A message that is made when its turn has come; undefined where it is no longer needed. */
interface Waiting {
  readonly bytes: number;
  make(): Promise<EdgeEventCase | undefined>;
}

interface OutgoingDeps {
  readonly stream: EdgeStream;
  readonly seal: (event: EdgeEventCase) => Uint8Array;
  /** Aborts when the stream is over. */
  readonly over: AbortSignal;
}

/** Messages to the relay, in order, as fast as it takes them. */
export class Outgoing {
  readonly #deps: OutgoingDeps;
  readonly #queue: Waiting[] = [];
  #bytes = 0;
  #pump: Promise<void> | undefined;

  constructor(deps: OutgoingDeps) {
    this.#deps = deps;
  }

  send(event: EdgeEventCase): void {
    this.#add({ bytes: 0, make: async () => event });
  }

  /** The same for one that is read when its turn has come. */
  sendLater(make: () => Promise<EdgeEventCase | undefined>): void {
    this.#add({ bytes: 0, make });
  }

  /** One that is left out where too much waits; whether it was taken. */
  offer(event: EdgeEventCase, bytes: number): boolean {
    if (this.#bytes + bytes > daemonLimits.outgoingBytes) return false;
    this.#add({ bytes, make: async () => event });
    return true;
  }

  /** Resolves when nothing waits any more, or the stream is over. */
  async flush(): Promise<void> {
    while (this.#pump !== undefined) await this.#pump;
  }

  #add(waiting: Waiting): void {
    if (this.#deps.over.aborted) return;
    this.#queue.push(waiting);
    this.#bytes += waiting.bytes;
    this.#start();
  }

  #start(): void {
    if (this.#pump !== undefined) return;
    this.#pump = this.#write()
      // The journal cannot be read: the stream ends, and the next one begins with it.
      .catch((error: unknown) => void this.#deps.stream.destroy(error instanceof Error ? error : undefined))
      .finally(() => {
        this.#pump = undefined;
        if (this.#queue.length > 0) this.#start();
      });
  }

  async #write(): Promise<void> {
    const { stream, seal, over } = this.#deps;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      this.#bytes -= next.bytes;
      const event = over.aborted ? undefined : await next.make();
      if (event === undefined || over.aborted || stream.write(seal(event))) continue;
      await once(stream, 'drain', { signal: over }).catch(() => undefined);
    }
  }
}
