import { newUuid } from '../ids.ts';
import { createLoopTurns } from '../loop-turns.ts';
import { argumentsText } from './call-arguments.ts';
import type { ModelToolCall } from './models.ts';

type Fetch = typeof fetch;

/** Texts that are parsed in one turn of the event loop; one text more may follow. */
const turnLength = 65_536;

/**
 * Arguments of earlier calls as JSON objects, which two of the protocols ask for; a model may have written anything. The values of a
 * whole history take thirty times its text, so each is written as text at once. The package of the provider is given a mark for it.
 */
export class WrittenArguments {
  readonly #mark = newUuid();
  readonly #texts: string[] = [];
  readonly #spend = createLoopTurns(turnLength);

  /** The mark. Arguments that no tool got become an empty object. */
  async mark(call: ModelToolCall): Promise<Record<string, unknown>> {
    this.#texts.push(argumentsText(call));
    await this.#spend(call.arguments.length);
    return { [this.#mark]: this.#texts.length - 1 };
  }

  /** Sends a body with the arguments in place of their marks. */
  through(send: Fetch): Fetch {
    return (url, init) =>
      send(url, typeof init?.body === 'string' ? { ...init, body: this.#written(init.body) } : init);
  }

  #written(body: string): string {
    let count = 0;
    // No text of a conversation can hold the mark, which is made for this request.
    const written = body.replaceAll(new RegExp(`\\{"${this.#mark}":(\\d+)\\}`, 'g'), (_mark, index) => {
      count += 1;
      return this.#texts[Number(index)] ?? '{}';
    });
    if (count !== this.#texts.length)
      throw new Error('the package of the provider has changed the arguments of a call');
    // They are in the body now, which is sent once.
    this.#texts.length = 0;
    return written;
  }
}
