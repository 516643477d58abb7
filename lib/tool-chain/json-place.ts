/** The place in JSON behind what was read. */
export class JsonPlace {
  #isQuoted = false;
  #isEscaped = false;
  #end = '';

  follow(text: string): void {
    for (const character of text) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (character === '\\') this.#isEscaped = this.#isQuoted;
      else if (character === '"') this.#isQuoted = !this.#isQuoted;
    }
    this.#end = text.slice(-unitLength);
  }

  /** The same place, from which another text may follow. */
  copy(): JsonPlace {
    const place = new JsonPlace();
    place.#isQuoted = this.#isQuoted;
    place.#isEscaped = this.#isEscaped;
    place.#end = this.#end;
    return place;
  }

  /** Within a text. */
  get isQuoted(): boolean {
    return this.#isQuoted;
  }

  /** Whether any character may follow: within quotes, and not within an escape. */
  get takesText(): boolean {
    return this.#isQuoted && !this.#isEscaped && !openUnit.test(this.#end);
  }
}

/** Characters of an escape as `\u0041`, and the beginning of one. */
const unitLength = 6;
const openUnit = /\\u[0-9a-fA-F]{0,3}$/;
