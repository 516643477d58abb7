import { createWindlassClient, WindlassApiError, type WindlassClient } from '../../client/index.ts';
import { CliError } from '../exit-codes.ts';
import { type DeviceLoginDeps, deviceLogin } from './device-login.ts';
import type { Login, LoginStore } from './login.ts';
import { loginOf, type OidcProvider, type ProviderChoice } from './provider.ts';

export interface AccountDeps extends Omit<DeviceLoginDeps, 'tell'> {
  readonly logins: LoginStore;
  readonly findProvider: (choice: ProviderChoice) => Promise<OidcProvider>;
  readonly fetch: typeof fetch;
}

/** Options of a login that override the server's. */
export interface LoginOptions {
  readonly issuer?: string;
  readonly clientId?: string;
  readonly scope?: string;
  readonly audience?: string;
}

/** Logs people in at servers, and out again. */
export interface Accounts {
  login(server: string, options: LoginOptions, tell: DeviceLoginDeps['tell']): Promise<Login>;
  /** False when there was no login. */
  logout(server: string): Promise<boolean>;
  /** The reason for which the server refuses the login's token, if it does. */
  problemWith(login: Login, tenant: string | undefined): Promise<string | undefined>;
}

export function createAccounts(deps: AccountDeps): Accounts {
  const { logins, clock, findProvider } = deps;
  return {
    async login(server, options, tell) {
      const choice = await choose(clientOf(deps, server), server, options);
      const tokens = await deviceLogin({ ...deps, tell }, await findProvider(choice));
      const login = loginOf(server, choice, tokens, clock.now());
      await logins.alone(server, () => logins.write(login));
      return login;
    },
    async logout(server) {
      return logins.alone(server, async () => {
        const login = await logins.read(server);
        if (login?.refreshToken !== undefined) await revoke(deps, login, login.refreshToken);
        return logins.remove(server);
      });
    },
    async problemWith(login, tenant) {
      const client = createWindlassClient({
        server: login.server,
        token: login.accessToken,
        tenant,
        fetch: deps.fetch,
      });
      try {
        await client.listWorkflows({ limit: 1 });
        return undefined;
      } catch (error) {
        if (error instanceof WindlassApiError) return error.message;
        throw error;
      }
    },
  };
}

function clientOf({ fetch }: AccountDeps, server: string): WindlassClient {
  return createWindlassClient({ server, fetch });
}

/** The server says which provider it trusts; what the user says is stronger. */
async function choose(client: WindlassClient, server: string, options: LoginOptions): Promise<ProviderChoice> {
  const discovered = options.issuer === undefined ? await ask(client, server) : defaults;
  return {
    issuer: options.issuer ?? discovered.issuer,
    clientId: options.clientId ?? discovered.clientId,
    scope: options.scope ?? discovered.scope,
    audience: options.audience,
  };
}

const defaults = { issuer: '', clientId: 'windlass-cli', scope: 'openid offline_access' };

async function ask(client: WindlassClient, server: string): Promise<Omit<ProviderChoice, 'audience'>> {
  try {
    const discovered = await client.readProtectedResource();
    const [issuer = ''] = discovered.authorization_servers;
    return { issuer, clientId: discovered.windlass_client_id, scope: discovered.scopes_supported.join(' ') };
  } catch (error) {
    if (!(error instanceof WindlassApiError) || error.status !== 404) throw error;
    throw new CliError('cluster', `${server} does not say where its tokens come from`, 'Give --issuer URL.');
  }
}

/** An unreachable provider does not prevent the logout here. */
async function revoke({ findProvider }: AccountDeps, login: Login, refreshToken: string): Promise<void> {
  try {
    const provider = await findProvider(login);
    await provider.revoke(refreshToken);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
  }
}
