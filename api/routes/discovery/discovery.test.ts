import { describe, expect, it } from 'vitest';
import { createDiscoveryRoutes } from './index.ts';

const config = {
  WINDLASS_OIDC_ISSUER: 'https://id.example.com/realm',
  WINDLASS_OIDC_CLIENT_ID: 'windlass-cli',
  WINDLASS_OIDC_CLIENT_SCOPES: ' openid  offline_access',
};

async function answerTo(rawHeaders: readonly (readonly [string, string])[], publicUrl?: string): Promise<unknown> {
  const given = publicUrl === undefined ? {} : { WINDLASS_PUBLIC_URL: publicUrl };
  const [route] = createDiscoveryRoutes({ config: { ...config, ...given } });
  const reply = await route?.handle({ rawHeaders } as never);
  return reply?.kind === 'json' ? reply.value : reply;
}

describe('the metadata of the protected resource', () => {
  it('tells the address that is configured, whatever the client writes', async () => {
    const own = 'https://windlass.example.com/';
    expect(await answerTo([['host', 'evil.example']], own)).toMatchObject({ resource: own });
  });

  it('names the provider, the client and the scopes', async () => {
    expect(await answerTo([['host', 'windlass.example.com']])).toEqual({
      resource: 'http://windlass.example.com/',
      authorization_servers: ['https://id.example.com/realm'],
      scopes_supported: ['openid', 'offline_access'],
      bearer_methods_supported: ['header'],
      windlass_client_id: 'windlass-cli',
    });
  });

  it.each([
    [
      'https behind an ingress',
      [
        ['host', 'w.example'],
        ['x-forwarded-proto', 'https'],
      ],
      'https://w.example/',
    ],
    ['a port', [['host', '127.0.0.1:8080']], 'http://127.0.0.1:8080/'],
    ['no host at all', [], 'http://localhost/'],
    ['a host that is none', [['host', 'a b/"<']], 'http://localhost/'],
    [
      'a scheme that is none',
      [
        ['host', 'w.example'],
        ['x-forwarded-proto', 'javascript'],
      ],
      'http://w.example/',
    ],
  ] as const)('tells its own address with %s', async (_, headers, want) => {
    expect(await answerTo(headers)).toMatchObject({ resource: want });
  });
});
