import type { ToolCaller, ToolRefusal } from './tool.ts';

/** Whether a host is listed, itself or under a listed `*.suffix` (requirements AMB-139). An absent list permits none. */
export function isDomainAllowed(allowlist: readonly string[] | undefined, host: string): boolean {
  const name = plain(host);
  return (allowlist ?? []).some((entry) => {
    const allowed = plain(entry);
    return allowed.startsWith('*.')
      ? name.endsWith(allowed.slice(1)) && name.length >= allowed.length
      : name === allowed;
  });
}

/** Names of hosts are equal whatever their case and with or without a dot at their end. */
const plain = (host: string): string => host.toLowerCase().replace(/\.$/, '');

/** Spec 3 §10.4. A parser takes more for a URL of the web, such as `http:host` and blanks in front. */
export const isWebUrl = (text: string): boolean => /^https?:\/\//i.test(text);

/** Why a URL may not be fetched as far as its host says; a text that is no URL is left to the tool. */
export function domainProblem({ security }: ToolCaller, url: unknown): ToolRefusal | undefined {
  if (typeof url !== 'string' || !isWebUrl(url) || !URL.canParse(url)) return undefined;
  const { hostname } = new URL(url);
  if (isDomainAllowed(security.domain_allowlist, hostname)) return undefined;
  const message = `${hostname} is not in domain_allowlist of the SecurityContext; add it there`;
  return { kind: 'policy', code: 'DomainNotAllowed', message };
}
