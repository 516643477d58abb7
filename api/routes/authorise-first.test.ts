import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Contract } from '../../lib/http/contract.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import type { Route } from '../../lib/http/route.ts';
import { type Caller, requireOneOf } from '../../lib/identity/index.ts';
import { sendRaw, startTestServer, type TestServer } from '../../test/support/http-server.ts';
import { contracts } from './contracts.ts';

/** Every operation of the public listener, without what it does: a request that reaches a handler is answered 418. */
let server: TestServer;

const mallory: Caller = {
  subject: 'mallory',
  tenant: 'acme',
  kind: 'consumer',
  roles: [],
  scopes: [],
  until: Infinity,
};
const reached = async (): Promise<never> => {
  throw new HttpError({ code: 'invalid', status: 418, message: 'the handler was reached' });
};

beforeAll(async () => {
  const routes: Route<Caller>[] = contracts.map((contract) => ({ contract, handle: reached }));
  server = await startTestServer(routes as never, {
    authenticate: (async ({ authorization = '' }: { readonly authorization?: string }) => ({
      ...mallory,
      scopes: authorization.replace('Bearer ', '').split(' '),
    })) as never,
    authorize: requireOneOf as never,
    tenantOf: (() => 'acme') as never,
  });
});
afterAll(() => server.close());

const needsOf = ({ errors }: Contract) => errors.filter(({ needs }) => needs !== undefined);
const guarded = contracts.filter((contract) => needsOf(contract).length > 0);

/** Whose right depends on the object that is found, so that only the handler can tell. */
const byObject: ReadonlySet<string> = new Set(['deleteAgent', 'deleteWorkflow']);

/** The path with ids that no schema takes, and the query for which the right is asked. */
function targetOf(contract: Contract): string {
  const path = contract.path.replaceAll(/\{[^}]+\}/g, '!');
  const [where] = needsOf(contract).flatMap(({ needsFor }) => needsFor ?? []);
  return where === undefined ? path : `${path}?${where.query}=${where.value}`;
}

async function statusOf(contract: Contract, body: string, { token = '', length = Buffer.byteLength(body) } = {}) {
  const lines = [
    `${contract.method.toUpperCase()} ${targetOf(contract)} HTTP/1.1`,
    'Host: test',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    ...(length === 0 ? [] : [`Content-Length: ${length}`]),
  ];
  return (await sendRaw(server.port, `${lines.join('\r\n')}\r\n\r\n${body}`)).status;
}

describe('a caller without the right', () => {
  it.each(guarded.map((contract) => [contract.operationId, contract] as const))(
    'EDGE-AUTH-08 AMB-150 gets 403 from %s, whatever the body, path and query are',
    async (_id, contract) => {
      expect(await statusOf(contract, '')).toBe(403);
      expect(await statusOf(contract, '{"spoiled": ')).toBe(403);
      expect(await statusOf(contract, '{"a":1,"a":2}')).toBe(403);
      // A thousand times what any operation takes, of which only the beginning comes.
      expect(await statusOf(contract, '{', { length: 1_073_741_824 })).toBe(403);
    },
  );

  it.each(guarded.map((contract) => [contract.operationId, contract] as const))(
    'EDGE-AUTH-09 is another than one with it, whom %s answers by the request',
    async (_id, contract) => {
      const [{ needs = [] } = {}] = needsOf(contract);
      for (const token of needs) expect(await statusOf(contract, '', { token })).not.toBe(403);
    },
  );
});

describe('an operation that answers 403', () => {
  it('says in its contract which right it asks for, unless that depends on the object', () => {
    const refusing = contracts.filter(({ errors }) =>
      errors.some(({ status, error }) => status === 403 && error === 'forbidden'),
    );
    const silent = refusing.filter((contract) => needsOf(contract).length === 0).map(({ operationId }) => operationId);
    expect(new Set(silent)).toEqual(byObject);
    expect(guarded.length).toBeGreaterThan(15);
  });

  it('has the scope of the specification wherever it is about edge hosts', () => {
    const open = contracts
      .filter(({ path }) => path.startsWith('/v1/edge/'))
      .filter((contract) => needsOf(contract).length === 0);
    expect(open.map(({ operationId }) => operationId)).toEqual([]);
  });
});
