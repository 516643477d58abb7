import { isLoopback } from '../../lib/loopback.ts';

/** Longest address that a browser is sent to. */
export const longestAddress = 2_048;

/** Says what is wrong with an address that a browser is to be sent to; undefined when nothing is. */
export function addressProblem(text: string, origins: readonly string[] = []): string | undefined {
  if (text.length > longestAddress) return `must have at most ${longestAddress} characters`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !isWeb(url)) return 'must be an absolute https address, or http on this machine';
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  if (origins.length > 0 && !origins.includes(url.origin)) return `must begin with one of ${origins.join(', ')}`;
  return undefined;
}

const isWeb = (url: URL): boolean => url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
