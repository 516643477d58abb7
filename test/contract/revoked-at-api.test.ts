import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSignedAdmission } from '../../api/agents/calls/signed-admission.ts';
import { createSealInvokeRoutes } from '../../api/routes/seal/invoke.ts';
import { aborted } from '../../lib/aborted.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import {
  createCallCounter,
  createEnvelopeProof,
  createSealSessions,
  createProofPool,
  createVouch,
  issueSession,
  type SealKey,
} from '../../lib/envelope/index.ts';
import { newId } from '../../lib/ids.ts';
import { createToolbox, type ToolRuns } from '../../lib/tools/toolbox.ts';
import { aToolCaller } from '../builders/tool-caller.ts';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startTestServer } from '../support/http-server.ts';
import { aSigner } from '../support/seal-world.ts';
import { silentLogger } from '../support/silent-logger.ts';

/** The time that calls under way have to end by themselves, which a test lets pass. */
class Patience {
  /** Resolves when a revocation waits for calls under way. */
  readonly begun = Promise.withResolvers<void>();
  readonly #over = Promise.withResolvers<void>();

  readonly clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) => {
      if (ms !== 8_000) return systemClock.sleep(ms, signal);
      this.begun.resolve();
      return Promise.race([this.#over.promise, aborted(signal ?? new AbortController().signal)]).then(() => undefined);
    },
  };

  end(): void {
    this.#over.resolve();
  }
}

let nats: TestBus;
let gateway: TestGateway;
let api: Awaited<ReturnType<typeof startApi>>;

beforeAll(async () => {
  nats = await startTestBus();
});
afterAll(() => nats.stop());
beforeEach(async () => {
  gateway = await startTestGateway(await nats.connected(), []);
  api = await startApi(await nats.connected(), gateway.key);
});
afterEach(async () => {
  await Promise.all([api.close(), gateway.close()]);
});

/** The signed lane of an API, whose calls wait between their proof and their tool until `release`. */
async function startApi(bus: EventBus, key: SealKey) {
  const patience = new Patience();
  const proved = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const order: string[] = [];
  const sessions = createSealSessions(bus);
  const { clock } = patience;
  const admission = createSignedAdmission({ bus, clock, logger: silentLogger, newId, sessions });
  const tool: ToolRuns[string] = {
    kind: 'api',
    async run() {
      order.push('the tool began');
      return { content: '{}', isError: false };
    },
  };
  const proofs = createProofPool({ clock: systemClock, key });
  const routes = createSealInvokeRoutes({
    admission,
    audit: { record: () => undefined },
    clock: systemClock,
    prove: createEnvelopeProof({ bus, clock: systemClock, key, sessions }),
    vouch: createVouch({ clock: systemClock, key, sessions, proofs }),
    proofs,
    rateLimit: { take: async () => undefined },
    toolbox: createToolbox({ builtin_dispatchers: [] }, { 'svc.tools.list': tool }),
    calls: createCallCounter(bus),
    async callerOf({ tenant }) {
      proved.resolve();
      await released.promise;
      return { ...aToolCaller({ spec: { tools: [{ name: 'svc.*' }] } }), tenant };
    },
    events: { raise: () => undefined },
    newId,
    container: { problem: () => undefined, run: () => Promise.reject(new Error('this tool runs in no pod')) },
  });
  const server = await startTestServer(routes.map(({ caller: _caller, ...route }) => route));
  const stop = new AbortController();
  let running = Promise.resolve();
  return {
    order,
    patience,
    proved: proved.promise,
    release: released.resolve,
    sessions,
    url: server.url,
    async open() {
      running = admission.run(stop.signal);
      await admission.opened;
    },
    async close() {
      released.resolve();
      await server.close();
      stop.abort();
      await running;
      await admission.close();
    },
  };
}

/** A session of an attestation, and the answers of calls in it. */
async function aSession(executionId: string) {
  const signer = aSigner();
  const { security_token: token } = await issueSession(
    { key: gateway.key, sessions: api.sessions, clock: systemClock, newId },
    { executionId, tenant: 'acme', podUid: 'p-1', securityContext: 'default', publicKey: signer.publicKey },
  );
  return async (id: number): Promise<[status: number, body: unknown]> => {
    const payload = { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'svc.tools.list', arguments: {} } };
    const timestamp = Math.floor(Date.now() / 1_000);
    const body = JSON.stringify(signer.sign({ token, timestamp, payload, executionId }));
    const response = await fetch(`${api.url}/v1/seal/invoke`, { method: 'POST', body });
    return [response.status, await response.json()];
  };
}

async function revoke(executionId: string): Promise<number> {
  const options = { method: 'DELETE', headers: { authorization: 'Bearer acme' } };
  const { status } = await fetch(`${gateway.url}/v1/seal/sessions/${executionId}`, options);
  api.order.push(`DELETE of ${executionId} answered ${status}`);
  return status;
}

const isRevoked = async (execution_id: string): Promise<boolean> =>
  (await api.sessions.find({ tenant: 'acme', execution_id }))?.revoked === true;

describe('DELETE of a session at the gateway', () => {
  it('GW-SESS-10 waits for a call that the API has proved, which still begins', async () => {
    await api.open();
    const [call] = [await aSession('held'), await aSession('other')];
    const answer = call(1);
    await api.proved;
    const revoked = revoke('held');
    await expect.poll(() => isRevoked('held')).toBe(true);
    // One that begins later and has no call to wait for is answered meanwhile.
    await revoke('other');
    api.release();
    expect(await answer).toMatchObject([200, { result: { isError: false } }]);
    await revoked;
    expect(api.order).toEqual(['DELETE of other answered 200', 'the tool began', 'DELETE of held answered 200']);
  });

  it('GW-SESS-10 GW-INV-25 lets no call of the API begin that was proved before and has outlasted its time', async () => {
    await api.open();
    const call = await aSession('late');
    const answer = call(1);
    await api.proved;
    const revoked = revoke('late');
    await api.patience.begun.promise;
    api.patience.end();
    // The signal of the call aborts in the turn after.
    await new Promise(setImmediate);
    api.release();
    expect(await answer).toMatchObject([403, { error: { code: -32_000, data: { error: 'OutcomeUnknown' } } }]);
    await revoked;
    expect(await call(2)).toMatchObject([403, { error: { message: expect.stringContaining('not active') as string } }]);
    expect(api.order).toEqual(['DELETE of late answered 200']);
  });

  it('waits for no replica of the API that it does not know of: that one refuses calls until then', async () => {
    const call = await aSession('early');
    expect(await call(1)).toMatchObject([503, { error: { code: -32_603 } }]);
    expect(await revoke('early')).toBe(200);
    await api.open();
    expect((await call(2))[0]).toBe(403);
    expect(api.order).toEqual(['DELETE of early answered 200']);
  });
});
