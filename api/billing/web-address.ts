/** Longest address that a browser is sent to. */
export const longestAddress = 2_048;

const loopback: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Says what is wrong with an address that a browser is to be sent to; undefined when nothing is. */
export function addressProblem(text: string, origins: readonly string[] = []): string | undefined {
  if (text.length > longestAddress) return `must have at most ${longestAddress} characters`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !isWeb(url)) return 'must be an absolute https address, or http on this machine';
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  if (origins.length > 0 && !origins.includes(url.origin)) return `must begin with one of ${origins.join(', ')}`;
  return undefined;
}

/** Whether the URL leads to the machine it is used on, and nowhere else. */
export const isLoopback = (url: URL): boolean => loopback.includes(url.hostname);

const isWeb = (url: URL): boolean => url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
