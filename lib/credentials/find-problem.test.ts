import { describe, expect, it } from 'vitest';
import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import { systemClock } from '../clock.ts';
import { KubeError } from '../kube/index.ts';
import { createCredentials, createProblemFinder } from './index.ts';

type Settings = NonNullable<ApiSpec['spec']['credentials']>;

const secret = { name: 'shop' };
const kinds: readonly [Settings, readonly string[]][] = [
  [{ kind: 'static_header', header: 'x-key', secret }, ['value']],
  [{ kind: 'basic', secret }, ['username', 'password']],
  [{ kind: 'bearer', secret }, ['token']],
  [{ kind: 'api_key_header', header: 'x-key', secret }, ['key']],
  [{ kind: 'api_key_query', param: 'key', secret }, ['key']],
  [
    { kind: 'oauth2_client_credentials', token_url: 'https://id.example/token', secret },
    ['client_id', 'client_secret'],
  ],
];

/** The finding of a check and of a call where the Secret has these keys. */
async function both(
  credentials: Settings,
  keys: readonly string[] | undefined,
  labels = { 'windlass.dev/credential': 'true' },
) {
  const data = Object.fromEntries((keys ?? []).map((key) => [key, 'aHVzaA==']));
  const get = async () => {
    if (keys === undefined) throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'secrets' });
    return { metadata: { name: 'shop', labels }, data } as never;
  };
  const deps = { kube: { get }, clock: systemClock };
  const tokens = { token: async () => 'token', forget: () => false };
  const spec = { metadata: { name: 'a', namespace: 'acme' }, spec: { credentials } } as ApiSpec;
  const call = await createCredentials({ ...deps, tokens })
    .resolve('acme', spec)
    .then(
      () => undefined,
      (error: Error) => error.message,
    );
  return { found: await createProblemFinder(deps)(spec), call };
}

describe('the check of a credential', () => {
  it.each(kinds)(
    'GW-WF-11 finds for %j each key that a call would lack, and nothing where it has all',
    async (settings, keys) => {
      expect(await both(settings, keys)).toEqual({ found: undefined, call: undefined });
      for (const lacked of keys) {
        const { found, call } = await both(
          settings,
          keys.filter((key) => key !== lacked),
        );
        expect(found).toBe(`Secret shop in the namespace acme lacks the key '${lacked}'; add it`);
        expect(call).toBe(found);
      }
      const all = (await both(settings, [])).found ?? '';
      for (const key of keys) expect(all).toContain(`'${key}'`);
    },
  );

  it.each(kinds)('GW-WF-11 says for %j which Secret, label and keys are missing', async (settings, keys) => {
    const names = keys.map((key) => `'${key}'`).join(' and ');
    const text = `there is no Secret shop with the label windlass.dev/credential=true in the namespace acme; create it with the key${keys.length > 1 ? 's' : ''} ${names}, and with the label`;
    expect(await both(settings, undefined)).toEqual({ found: text, call: text });
    expect(await both(settings, keys, { 'windlass.dev/credential': 'yes' })).toEqual({ found: text, call: text });
  });

  it('throws where the Secret could not be read this time', async () => {
    const get = async () => {
      throw new KubeError(500, { reason: 'InternalError' }, { verb: 'get', resource: 'secrets' });
    };
    const spec = { metadata: {}, spec: { credentials: { kind: 'bearer', secret } } } as unknown as ApiSpec;
    await expect(createProblemFinder({ kube: { get }, clock: systemClock })(spec)).rejects.toThrow('500');
  });
});
