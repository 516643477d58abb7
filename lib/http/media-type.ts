import { parse } from 'content-type';
import { unsupportedMediaType } from './request-errors.ts';

/**
 * Checks that a body is of one of the given media types. The only parameter that it may have is
 * `charset=utf-8`: any other would change what the bytes mean.
 */
export function requireMediaType(header: string | undefined, mediaTypes: readonly string[]): void {
  const expected = mediaTypes.join(' or ');
  if (header === undefined) throw unsupportedMediaType(`send the header Content-Type: ${expected}`);
  const { type, parameters } = parse(header);
  if (!mediaTypes.includes(type)) throw unsupportedMediaType(`the body must be ${expected}`);
  for (const [name, value] of Object.entries(parameters)) {
    if (name !== 'charset' || value.toLowerCase() !== 'utf-8')
      throw unsupportedMediaType(`the only parameter of ${type} is charset=utf-8`);
  }
}
