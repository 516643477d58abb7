import { expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { KubeError, type KubeClient } from '../kube/index.ts';
import { readSecret } from './read-secret.ts';

const ref = { namespace: 'acme', name: 'shop', keys: ['token'] };
const secret = { metadata: { ...ref, labels: { 'windlass.dev/credential': 'true' } }, data: { token: 'aHVzaA==' } };
const noRight = new KubeError(
  403,
  {
    message:
      'secrets "shop" is forbidden: User "system:serviceaccount:windlass-system:windlass-gateway" cannot get resource "secrets" in API group "" in the namespace "acme"',
  },
  { verb: 'get', resource: 'secrets' },
);

/** A server that refuses the first requests. */
function open(refusals: number) {
  const clock = createManualClock();
  let asked = 0;
  const get = async () => {
    asked += 1;
    if (asked <= refusals) throw noRight;
    return secret;
  };
  const read = readSecret({ kube: { get } as unknown as Pick<KubeClient, 'get'>, clock }, ref);
  return { clock, read, asked: () => asked };
}

it('a Secret that a server refuses in its first moments is read again, for some seconds', async () => {
  const { clock, read } = open(4);
  await clock.advance(3_000);
  expect((await read).value('token')).toBe('hush');
});

it('a Secret that is refused for three seconds fails the credential, after five requests', async () => {
  const { clock, read, asked } = open(Number.POSITIVE_INFINITY);
  const refused = read.catch((error: unknown) => error);
  await clock.advance(2_999);
  expect(asked()).toBe(4);
  await clock.advance(1);
  expect(await refused).toMatchObject({ code: 'terminal', reason: 'CredentialFailed' });
  expect(asked()).toBe(5);
});
