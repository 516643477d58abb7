const newline = 0x0a;

/**
 * One JSON value a line, from chunks cut anywhere. A line is decoded only when it is whole, so a character split
 * between two chunks stays intact. Throws SyntaxError on a line that is no JSON, and on a stream that ends within
 * a line: half an event is a broken connection.
 */
export async function* readJsonLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<unknown, void, undefined> {
  /** The beginning of a line whose end has not come. */
  let pending: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const text = textOf([...pending, chunk.subarray(start, end)]);
      pending = [];
      start = end + 1;
      if (text !== '') yield JSON.parse(text);
    }
    if (start < chunk.length) pending.push(chunk.subarray(start));
  }
  if (textOf(pending) !== '') throw new SyntaxError('the stream ended within a line');
}

function textOf(parts: readonly Uint8Array[]): string {
  const whole = parts.length === 1 ? parts[0] : Buffer.concat(parts);
  return whole === undefined
    ? ''
    : Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength).toString('utf8').trim();
}
