import type { IncomingHttpHeaders } from 'node:http2';
import type { Metadata } from '@grpc/grpc-js';

/** The client's values of a name, joined with `, ` in the order in which they came. */
export function headerOf(metadata: Pick<Metadata, 'get'>, name: string): string | undefined {
  const values = metadata.get(name).filter((value) => typeof value === 'string');
  return values.length === 0 ? undefined : values.join(', ');
}

const credential = 'authorization';

/**
 * Node keeps the first header `authorization` of an HTTP/2 request and drops the others, where it joins those of other names. A
 * proxy may have checked another one: this joins them too, so that their reader refuses them. `raw` has names and values in turn.
 */
export function joinCredentials(headers: IncomingHttpHeaders, raw: readonly string[]): void {
  const values = raw.filter((_, index) => index % 2 === 1 && raw[index - 1] === credential);
  if (values.length > 1) headers[credential] = values.join(', ');
}
