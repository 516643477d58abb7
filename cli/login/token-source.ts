import type { Clock } from '../../lib/clock.ts';
import type { Environment } from '../../lib/config.ts';
import { CliError } from '../exit-codes.ts';
import type { FilePort } from '../files.ts';
import type { Login, LoginStore } from './login.ts';
import { loginOf, type OidcProvider, type ProviderChoice } from './provider.ts';

export interface TokenDeps {
  readonly env: Environment;
  readonly clock: Clock;
  readonly files: Pick<FilePort, 'read'>;
  readonly logins: LoginStore;
  readonly findProvider: (choice: ProviderChoice) => Promise<OidcProvider>;
}

interface TokenChoice {
  readonly server: string;
  /** `--token-file`. */
  readonly tokenFile?: string;
  /** Follow a command that the user is shown. */
  readonly flags: string;
}

/** Gives the token of each call; with a token that was refused, another one if there is one. */
type GetToken = (refused?: string) => Promise<string>;

/** A token that ends this soon is renewed before it is used. */
const earlyMs = 30_000;

/**
 * The token of a file (`--token-file`, `WINDLASS_TOKEN_FILE`), of the environment (`WINDLASS_TOKEN`), or of a login,
 * which is renewed without a word. A file is read each time, as its writer renews it.
 */
export function createTokenSource(deps: TokenDeps, choice: TokenChoice): GetToken {
  const { env, files } = deps;
  const token = env['WINDLASS_TOKEN'];
  if (choice.tokenFile === undefined && token) return async () => tokenOf(token, 'WINDLASS_TOKEN');
  const file = choice.tokenFile ?? env['WINDLASS_TOKEN_FILE'];
  const place = choice.tokenFile === undefined ? 'WINDLASS_TOKEN_FILE' : '--token-file';
  if (file) return async () => tokenOf(await readToken(files, file, place), `${place} ${file}`);
  return (refused) => ofLogin(deps, choice, refused);
}

async function readToken(files: TokenDeps['files'], file: string, place: string): Promise<string> {
  try {
    return await files.read(file);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new CliError('usage', error.message, `${place} must name a file that holds a token.`);
  }
}

/** RFC 6750 §2.1. Anything else is no token, and may be a secret that is not meant for the server. */
function tokenOf(text: string, place: string): string {
  const token = text.trim();
  if (/^[A-Za-z0-9._~+/-]+=*$/.test(token)) return token;
  throw new CliError('usage', `${place} holds no token`, 'It is one word, such as eyJhbGciOi….');
}

async function ofLogin(deps: TokenDeps, choice: TokenChoice, refused: string | undefined): Promise<string> {
  const { logins, clock } = deps;
  const login = await logins.read(choice.server);
  if (login === undefined) throw notLoggedIn(choice);
  if (isFresh(login, refused, clock.now())) return login.accessToken;
  return logins.alone(choice.server, () => renewed(deps, choice, refused));
}

/** Another process may have renewed it while this one waited for its turn. */
async function renewed(deps: TokenDeps, choice: TokenChoice, refused: string | undefined): Promise<string> {
  const { logins, clock, findProvider } = deps;
  const login = await logins.read(choice.server);
  if (login === undefined) throw notLoggedIn(choice);
  if (isFresh(login, refused, clock.now())) return login.accessToken;
  if (login.refreshToken === undefined) throw ended(choice);
  const provider = await findProvider(login);
  const tokens = await provider.refresh(login.refreshToken);
  if (tokens === undefined) throw ended(choice);
  await logins.write(loginOf(choice.server, login, tokens, clock.now()));
  return tokens.accessToken;
}

function isFresh({ accessToken, expiresAt }: Login, refused: string | undefined, now: number): boolean {
  if (accessToken === refused) return false;
  return expiresAt === undefined || Date.parse(expiresAt) - earlyMs > now;
}

function notLoggedIn({ server, flags }: TokenChoice): CliError {
  const hint = `Log in: windlass login${flags}. Or set WINDLASS_TOKEN, or give --token-file.`;
  return new CliError('cluster', `not logged in to ${server}`, hint);
}

function ended({ server, flags }: TokenChoice): CliError {
  return new CliError('cluster', `the login at ${server} has expired`, `Log in again: windlass login${flags}`);
}
