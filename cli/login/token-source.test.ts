import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import type { Login, LoginStore } from './login.ts';
import type { OidcProvider, Tokens } from './provider.ts';
import { CliError } from '../exit-codes.ts';
import { createTokenSource, type TokenDeps } from './token-source.ts';

const server = 'https://w.example';
const choice = { server, flags: ' --server https://w.example' };

function world(login: Partial<Login> | undefined, refreshed?: Tokens) {
  const clock = createManualClock();
  const at = (seconds: number): string => new Date(clock.now() + seconds * 1_000).toISOString();
  const base = { server, issuer: 'https://id.example', clientId: 'c', scope: 's', accessToken: 'old' };
  let stored: Login | undefined = login === undefined ? undefined : { ...base, ...login };
  let turn: Promise<unknown> = Promise.resolve();
  const used: string[] = [];
  const logins: LoginStore = {
    read: async () => stored,
    write: async (changed) => void (stored = changed),
    remove: async () => true,
    alone: async (_, work) => {
      const mine = turn.then(work);
      turn = mine.catch(() => undefined);
      return mine;
    },
  };
  const provider: Pick<OidcProvider, 'refresh'> = {
    refresh: async (token) => {
      used.push(token);
      return refreshed;
    },
  };
  const deps: TokenDeps = {
    env: {},
    clock,
    files: { read: async () => ' from-file\n' },
    logins,
    findProvider: async () => provider as OidcProvider,
  };
  return { deps, at, used, stored: () => stored, clock };
}

describe('the token of a command', () => {
  it('is that of the option, then of the environment, then of its file, then of the login', async () => {
    const { deps } = world({ expiresAt: undefined });
    const env = { WINDLASS_TOKEN: ' from-env ', WINDLASS_TOKEN_FILE: 'file' };
    expect(await createTokenSource({ ...deps, env }, { ...choice, tokenFile: 'file' })()).toBe('from-file');
    expect(await createTokenSource({ ...deps, env }, choice)()).toBe('from-env');
    expect(await createTokenSource({ ...deps, env: { WINDLASS_TOKEN_FILE: 'file' } }, choice)()).toBe('from-file');
    expect(await createTokenSource(deps, choice)()).toBe('old');
  });

  it.each(['', '\n', 'two words', 'eyJ.\neyJ', '{"access_token":"x"}', 'tökén', '===', 'a=b'])(
    'is not %j, and what it is instead is not shown',
    async (text) => {
      const { deps } = world(undefined);
      const getToken = createTokenSource({ ...deps, files: { read: async () => text } }, { ...choice, tokenFile: 'f' });
      await expect(getToken()).rejects.toMatchObject({ exit: 'usage', message: '--token-file f holds no token' });
    },
  );

  it.each([
    [{}, { tokenFile: 'gone' }, '--token-file must name a file that holds a token.'],
    [{ WINDLASS_TOKEN_FILE: 'gone' }, {}, 'WINDLASS_TOKEN_FILE must name a file that holds a token.'],
  ])('is in no file, and the error names the flag or variable of %j %j', async (env, chosen, hint) => {
    const { deps } = world(undefined);
    const read = (): Promise<string> => Promise.reject(new CliError('usage', 'cannot read gone', 'Check the path.'));
    const getToken = createTokenSource({ ...deps, env, files: { read } }, { ...choice, ...chosen });
    await expect(getToken()).rejects.toMatchObject({ message: 'cannot read gone', hint });
  });

  it.each(['eyJhbGciOi.eyJzdWIi.c2ln', 'opaque-_~+/9==', 'x'])('may be %s', async (text) => {
    const { deps } = world(undefined);
    expect(await createTokenSource({ ...deps, env: { WINDLASS_TOKEN: `${text}\n` } }, choice)()).toBe(text);
  });

  it('is missing without a login, and the error says how to log in', async () => {
    await expect(createTokenSource(world(undefined).deps, choice)()).rejects.toMatchObject({
      message: 'not logged in to https://w.example',
      hint: expect.stringContaining('windlass login --server https://w.example'),
    });
  });

  it.each([
    [31, 'old', 0],
    [30, 'new', 1],
    [-1, 'new', 1],
  ])('that ends in %i seconds is %s, after %i renewals', async (seconds, want, renewals) => {
    const { deps, at, used, clock } = world(
      { refreshToken: 'r1' },
      { accessToken: 'new', refreshToken: 'r2', expiresIn: 60 },
    );
    await deps.logins.write({ ...((await deps.logins.read(server)) as Login), expiresAt: at(seconds) });
    expect(await createTokenSource(deps, choice)()).toBe(want);
    expect(used).toHaveLength(renewals);
    if (renewals === 0) return;
    expect(await deps.logins.read(server)).toMatchObject({
      accessToken: 'new',
      refreshToken: 'r2',
      expiresAt: new Date(clock.now() + 60_000).toISOString(),
    });
  });

  it('is renewed when the server refuses it, however long it would last', async () => {
    const { deps, used } = world({ refreshToken: 'r1' }, { accessToken: 'new' });
    expect(await createTokenSource(deps, choice)('old')).toBe('new');
    expect(used).toEqual(['r1']);
  });

  it('is renewed once for all that need it at the same time: a refresh token can be used once', async () => {
    const { deps, used } = world({ refreshToken: 'r1' }, { accessToken: 'new', refreshToken: 'r2' });
    const get = createTokenSource(deps, choice);
    expect(await Promise.all([get('old'), get('old'), get('old')])).toEqual(['new', 'new', 'new']);
    expect(used).toEqual(['r1']);
  });

  it.each<[string, Partial<Login>]>([
    ['the provider refuses to renew it', { refreshToken: 'r1' }],
    ['there is nothing to renew it with', {}],
  ])('has ended when %s', async (_, login) => {
    await expect(createTokenSource(world(login).deps, choice)('old')).rejects.toMatchObject({
      exit: 'cluster',
      message: 'the login at https://w.example has expired',
    });
  });
});
