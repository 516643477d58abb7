import { createWindlassClient, WindlassApiError, type WindlassClient } from '../../../client/index.ts';
import { isLoopback } from '../../../lib/loopback.ts';
import { claimsOf, nameOf, tokenSubject } from '../../login/token-claims.ts';
import { createTokenSource, type TokenDeps } from '../../login/token-source.ts';
import type { GlobalOptions } from '../../command-context.ts';
import type { Terminal } from '../../terminal.ts';
import { flagsOf } from '../choose.ts';
import { clientOptions } from '../client-options.ts';
import type { Backend, ServerIdentity } from '../backend.ts';
import { createHttpBackend, wordsOf } from './http-backend.ts';

export interface OpenDeps extends TokenDeps {
  readonly terminal: Pick<Terminal, 'note'>;
  readonly fetch: typeof fetch;
}

/** The HTTP backend at an address, with whatever token there is for it. */
export function openHttpBackend(deps: OpenDeps, options: GlobalOptions, server: string): Backend {
  warnOfClearText(deps, server);
  const tenant = options.tenant ?? (deps.env['WINDLASS_TENANT'] || undefined);
  const flags = flagsOf(options);
  const getToken = createTokenSource(deps, { server, tokenFile: options.tokenFile, flags });
  const client = createWindlassClient({
    server,
    getToken,
    tenant,
    fetch: deps.fetch,
    ...clientOptions(deps.terminal),
  });
  return createHttpBackend({
    client,
    clock: deps.clock,
    words: wordsOf(tenant, flags),
    server,
    fetch: deps.fetch,
    subject: async () => tokenSubject(await getToken()),
    whoAmI: async () => {
      const problem = await refusalOf(client);
      return identityOf(server, await getToken(), problem);
    },
  });
}

/**
 * The obstacle that keeps the server from working for the user, if any. Throws when it does not take the token at all.
 */
async function refusalOf(client: Pick<WindlassClient, 'listWorkflows'>): Promise<string | undefined> {
  try {
    await client.listWorkflows({ limit: 1 });
    return undefined;
  } catch (error) {
    if (error instanceof WindlassApiError && error.status === 403) return error.message;
    throw error;
  }
}

/** As the token says. */
function identityOf(server: string, token: string, problem: string | undefined): ServerIdentity {
  const { iss, exp, tenant_id } = claimsOf(token);
  return {
    user: tokenSubject(token),
    facts: {
      server,
      ...(nameOf(token) === tokenSubject(token) ? {} : { name: nameOf(token) }),
      ...(typeof iss === 'string' ? { issuer: iss } : {}),
      ...(typeof tenant_id === 'string' ? { tenant: tenant_id } : {}),
      ...(typeof exp === 'number' ? { expires: new Date(exp * 1_000).toISOString() } : {}),
      ...(problem === undefined ? {} : { problem }),
    },
  };
}

export function warnOfClearText({ terminal }: Pick<OpenDeps, 'terminal'>, server: string): void {
  const url = new URL(server);
  if (url.protocol === 'https:' || isLoopback(url)) return;
  terminal.note(`warning: the token is sent to ${server} in cleartext; a reader of the traffic can act as you`);
}
