import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { apiSpecModule } from '../../controllers/registered-tools/api-spec-module.ts';
import { missingCredentials } from '../../controllers/registered-tools/credentials.ts';
import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import { createCredentialAnswers } from '../../gateway/tools/credential-answers.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';
import { applied, type JsonPatch } from '../support/json-patch.ts';

const document = JSON.stringify({
  openapi: '3.0.3',
  info: { title: 'Orders', version: '1' },
  servers: [{ url: 'https://orders.example.com' }],
  paths: { '/orders': { post: { operationId: 'createOrder', responses: { 200: { description: 'ok' } } } } },
});
const labels = { 'windlass.dev/credential': 'true' };
const fits = { metadata: { name: 'shop', labels }, data: { token: 'aHVzaA==' } };

let buses: TestBus;
let controllers: EventBus;
let gateway: EventBus;
/** The Secret in the cluster. */
let secret: object | undefined;
/** The ApiSpec in the cluster. */
let stored: ApiSpec;

beforeAll(async () => {
  buses = await startTestBus();
  [controllers, gateway] = [await buses.connected(), await buses.connected()];
});
afterAll(() => buses.stop());
beforeEach(() => {
  secret = undefined;
  stored = {
    apiVersion: 'windlass.dev/v1',
    kind: 'ApiSpec',
    metadata: { name: 'shop', namespace: 'tenant-acme', uid: 'a-1', generation: 1, resourceVersion: '1' },
    spec: { document, credentials: { kind: 'bearer', secret: { name: 'shop' } } },
  };
});

/** Reconciles the ApiSpec by its controller; gives when it looks again. */
async function reconciled(bus: Pick<EventBus, 'request'> = controllers): Promise<number | undefined> {
  const specs = {
    cache: { get: () => stored, byIndex: () => [], remember: (written: ApiSpec) => void (stored = written) },
    onChange: () => undefined,
    whole: async () => stored,
  };
  const reconcile = await apiSpecModule.start({
    kube: { jsonPatchStatus: async (_: unknown, __: unknown, patch: JsonPatch) => applied(stored, patch) },
    bus,
    clock: systemClock,
    tenants: { tenantOf: () => 'acme' },
    informer: () => specs,
  } as never);
  return (await reconcile('tenant-acme/shop'))?.requeueAfterMs;
}

/** Runs a task while a gateway serves the bus. */
async function withGateway(task: () => Promise<void>, seen: () => ApiSpec | undefined = () => stored): Promise<void> {
  const stop = new AbortController();
  const get = async () => {
    if (secret === undefined) throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'secrets' });
    return secret as never;
  };
  let ready: Promise<void> = Promise.resolve();
  const serve: EventBus['serve'] = (...asked) => {
    const responder = gateway.serve(...asked);
    ready = responder.ready;
    return responder;
  };
  const answers = createCredentialAnswers(
    { kube: { get }, clock: systemClock },
    { bus: { serve }, specs: { getByUid: seen } },
  );
  const serving = answers.run(stop.signal);
  await ready;
  try {
    await task();
  } finally {
    stop.abort();
    await serving;
  }
}

const conditions = () => (stored.status?.conditions ?? []).map(({ type, status, reason }) => [type, status, reason]);
const ready = ['Ready', 'True', 'Accepted'];
const messageOf = () => stored.status?.conditions?.[1]?.message;
const workflow = { metadata: { generation: 4 } } as ToolWorkflow;

describe('the condition CredentialsFound', () => {
  it.each([
    ['there is no Secret', undefined, /no Secret shop with the label .* tenant-acme; create it with the key 'token'/],
    ['the label is missing', { ...fits, metadata: { name: 'shop' } }, /no Secret shop with the label/],
    ['the key is missing', { ...fits, data: {} }, /Secret shop in .* tenant-acme lacks the key 'token'; add it/],
  ])('GW-WF-11 says that %s, soon again asks, and heals', async (_, found, text) => {
    secret = found;
    await withGateway(async () => {
      expect(await reconciled()).toBe(30_000);
      expect(conditions()).toEqual([ready, ['CredentialsFound', 'False', 'CredentialMissing']]);
      expect(messageOf()).toMatch(text);
      expect(missingCredentials(workflow, stored, 0)).toMatchObject([
        { type: 'CredentialsFound', status: 'False', message: `ApiSpec tenant-acme/shop: ${messageOf()}` },
      ]);
      secret = fits;
      expect(await reconciled()).toBe(600_000);
      expect(conditions()).toEqual([ready, ['CredentialsFound', 'True', 'CredentialFound']]);
      expect(missingCredentials(workflow, stored, 0)).toEqual([]);
    });
  });

  it('is as before where no gateway answers, and Ready does not wait for one', async () => {
    expect(await reconciled()).toBe(30_000);
    expect(conditions()).toEqual([ready]);
    await withGateway(async () => void (await reconciled()));
    expect(conditions()).toHaveLength(2);
    const before = stored;
    await reconciled();
    expect(stored).toEqual(before);
  });

  it('is written after Ready: a gateway that hangs holds nothing up', async () => {
    const hangs = { request: async () => Promise.reject(new Error(JSON.stringify(conditions()))) };
    let seen: unknown;
    const asked = { request: async () => ((seen = conditions()), hangs.request()) };
    await reconciled(asked);
    expect(seen).toEqual([ready]);
  });

  it('says nothing by a replica that knows an earlier ApiSpec, whose credentials were others', async () => {
    const earlier = { ...stored, metadata: { ...stored.metadata, generation: 0 } };
    await withGateway(
      async () => void (await reconciled()),
      () => earlier,
    );
    expect(conditions()).toEqual([ready]);
  });

  it('is of this generation alone, and of no ApiSpec without credentials', async () => {
    await withGateway(async () => void (await reconciled()));
    stored = { ...stored, metadata: { ...stored.metadata, generation: 2 } };
    await reconciled();
    expect(conditions()).toEqual([ready]);
    const { credentials: _, ...bare } = stored.spec;
    stored = { ...stored, spec: bare };
    await withGateway(async () => expect(await reconciled()).toBeUndefined());
    expect(conditions()).toEqual([ready]);
  });
});
