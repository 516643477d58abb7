import { createWindlassClient } from '../../../client/index.ts';
import { isLoopback } from '../../../lib/loopback.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { claimsOf, subjectOf } from '../../login/token-claims.ts';
import { createTokenSource, type GetToken, type TokenDeps } from '../../login/token-source.ts';
import type { GlobalOptions } from '../../session.ts';
import type { Terminal } from '../../terminal.ts';
import type { Door, Identity } from '../door.ts';
import { createHttpDoor, wordsOf } from './http-door.ts';

export interface OpenDeps extends TokenDeps {
  readonly terminal: Pick<Terminal, 'note'>;
  readonly fetch: typeof fetch;
}

/** The door to the API at an address, with whatever token there is for it. */
export function openHttpDoor(deps: OpenDeps, options: GlobalOptions, server: string): Door {
  warnOfClearText(deps, server);
  const flags = options.server === undefined ? '' : ` --server ${server}`;
  const tenant = options.tenant ?? (deps.env['WINDLASS_TENANT'] || undefined);
  const getToken = createTokenSource(deps, { server, tokenFile: options.tokenFile, flags });
  const client = createWindlassClient({
    server,
    getToken,
    tenant,
    fetch: deps.fetch,
    headers: { 'user-agent': `windlass-cli/${manifest.version}` },
  });
  return createHttpDoor({
    client,
    clock: deps.clock,
    words: wordsOf(tenant, flags),
    server,
    fetch: deps.fetch,
    subject: async () => subjectOf(await getToken()),
    whoAmI: () => identityOf(server, getToken),
  });
}

/** As the token says. */
async function identityOf(server: string, getToken: GetToken): Promise<Identity> {
  const token = await getToken();
  const { iss, exp, tenant_id } = claimsOf(token);
  return {
    user: subjectOf(token),
    facts: {
      server,
      ...(typeof iss === 'string' ? { issuer: iss } : {}),
      ...(typeof tenant_id === 'string' ? { tenant: tenant_id } : {}),
      ...(typeof exp === 'number' ? { 'token ends': new Date(exp * 1_000).toISOString() } : {}),
    },
  };
}

function warnOfClearText({ terminal }: OpenDeps, server: string): void {
  const url = new URL(server);
  if (url.protocol === 'https:' || isLoopback(url)) return;
  terminal.note(`warning: the token goes to ${server} in clear; whoever sees it can act as you`);
}
