import type { Json } from '../../crds/schema/parts.ts';
import type { Stimulus } from '../../lib/stimulus/stimulus.ts';

/**
 * A stimulus whose content can be let go while it is not looked at. It is a text then: values of 1 MiB of JSON take up to 12 MiB of
 * heap. Reading it makes the values again.
 */
export class HeldStimulus implements Stimulus {
  readonly id: string;
  readonly source: Stimulus['source'];
  readonly idempotencyKey?: string;
  readonly headers: Stimulus['headers'];
  readonly receivedAt: string;
  #values: { readonly content: Json } | undefined;
  #text = '';

  constructor({ content, id, source, idempotencyKey, headers, receivedAt }: Stimulus) {
    this.id = id;
    this.source = source;
    this.idempotencyKey = idempotencyKey;
    this.headers = headers;
    this.receivedAt = receivedAt;
    this.#values = { content };
  }

  get content(): Json {
    this.#values ??= { content: JSON.parse(this.#text) as Json };
    this.#text = '';
    return this.#values.content;
  }

  /** Its content as JSON, for as long as that is all that is left of it. */
  get text(): string {
    return this.#text;
  }

  /** Keeps the content as a text alone. */
  letGo(): void {
    if (this.#values === undefined) return;
    this.#text = JSON.stringify(this.#values.content);
    this.#values = undefined;
  }

  /** The same event under another id. This one has no content afterwards, so that the other one can let it go. */
  named(id: string): HeldStimulus {
    const { content, source, idempotencyKey, headers, receivedAt } = this;
    this.#values = { content: null };
    return new HeldStimulus({ content, id, source, idempotencyKey, headers, receivedAt });
  }
}
