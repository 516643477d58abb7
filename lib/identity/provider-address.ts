import { AppError } from '../errors.ts';
import { isLoopback } from '../loopback.ts';

/**
 * The address of a provider or of one of its documents. Keys that come over a connection that an attacker can change are
 * worth nothing, so it must be https; `allowHttp` makes an exception for this very machine (requirements AMB-151).
 * @throws AppError `invalid` that says what to do.
 */
export function parseProviderAddress(text: string, allowHttp: boolean): URL {
  if (!URL.canParse(text)) throw invalid('must be a URL');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') throw invalid('must not hold a user or password');
  if (url.search !== '' || url.hash !== '') throw invalid('must not have a query or fragment');
  if (url.protocol === 'https:') return url;
  if (url.protocol !== 'http:') throw invalid('must begin with https://');
  if (!isLoopback(url)) throw invalid('must begin with https://; http is possible on loopback addresses only');
  if (!allowHttp) throw invalid('must begin with https://, unless OIDC_ALLOW_HTTP=true');
  return url;
}

function invalid(problem: string): AppError {
  return new AppError('invalid', problem, { reason: 'ProviderAddress' });
}
