import { createGatewayClient, createWindlassClient } from '../../../client/index.ts';
import { CliError } from '../../exit-codes.ts';
import { createTokenSource, type TokenDeps } from '../../login/token-source.ts';
import type { GlobalOptions } from '../../command-context.ts';
import type { Terminal } from '../../terminal.ts';
import { flagsOf, type GatewayChoice } from '../choose.ts';
import { clientOptions } from '../client-options.ts';
import { warnOfClearText } from '../http/open.ts';
import type { GatewayBackend } from './backend.ts';

interface GatewayDeps extends TokenDeps {
  readonly terminal: Pick<Terminal, 'note'>;
  readonly fetch: typeof fetch;
}

/** Tokens of the API are those of the gateway: a login at the API, where its address is known, serves both. */
export function openGateway(
  deps: GatewayDeps,
  options: GlobalOptions,
  { gateway, server }: GatewayChoice,
): GatewayBackend {
  warnOfClearText(deps, gateway);
  const getToken = createTokenSource(deps, {
    server: server ?? gateway,
    tokenFile: options.tokenFile,
    flags: flagsOf(options),
  });
  const common = { getToken, fetch: deps.fetch, ...clientOptions(deps.terminal) };
  return {
    client: createGatewayClient({ ...common, server: gateway }),
    address: gateway,
    api() {
      if (server !== undefined) {
        const tenant = options.tenant ?? (deps.env['WINDLASS_TENANT'] || undefined);
        return createWindlassClient({ ...common, server, tenant });
      }
      const hint = 'Give --server URL, set WINDLASS_SERVER, or give --session-token-file with a token that you have.';
      throw new CliError('usage', '--server is missing: the HTTP API issues the tokens of sessions', hint);
    },
  };
}
