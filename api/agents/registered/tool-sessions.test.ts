import { describe, expect, it } from 'vitest';
import { createEnvelopeProof, readEnvelope, signEnvelope } from '../../../lib/envelope/index.ts';
import { newId } from '../../../lib/ids.ts';
import { aSealWorld, aSigner } from '../../../test/support/seal-world.ts';
import { sealSession } from '../../../test/support/seal-session.ts';
import type { RegisteredCaller } from './registered-tools.ts';
import { createToolSessions, toolSessionId } from './tool-sessions.ts';

const executionId = toolSessionId('0f9619ff-8b86-4d01-b42d-00c04fc964ff');
const name = { tenant: 'acme', execution_id: executionId };
const signer = { session: executionId, name: 'desk-clerk', context: 'default', tools: ['orders.*'] };
const caller = { tenant: 'acme', signer } as unknown as RegisteredCaller;

/** An operator has made a session under the id of an agent's before the agent calls its first registered tool. */
async function aForestalledAgent() {
  const world = aSealWorld();
  const operator = aSigner();
  const made = { ...sealSession(), execution_id: executionId, public_key: operator.publicKey, registered: 'digest' };
  await world.sessions.register(made, world.clock.now());
  const { sessions, key, clock } = world;
  const tools = createToolSessions({ key, sessions, clock, newId });
  return { ...world, operator, tools, prove: createEnvelopeProof(world) };
}

const payload = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'orders.place', arguments: {} } };
const read = (envelope: object) => readEnvelope(Buffer.from(JSON.stringify(envelope)));

describe('the session of an agent whose id an operator has used before', () => {
  it('AMB-116 AMB-119 is that of the agent from its first call on, and the key of the operator signs nothing in it', async () => {
    const { clock, operator, prove, seconds, tools } = await aForestalledAgent();
    const session = await tools.of(caller);
    const call = { executionId, token: session.token, tool: 'orders.place', arguments: {}, id: 1, now: clock.now() };
    expect(await prove(read(signEnvelope(session.key, call)))).toMatchObject({ agent_id: 'desk-clerk' });
    const stolen = operator.sign({ token: session.token, timestamp: seconds(), payload, executionId });
    await expect(prove(read(stolen))).rejects.toMatchObject({ fault: 'signature_invalid' });
  });

  it('GW-SESS-10 stays revoked where the operator has revoked it, as one that is revoked later', async () => {
    const { sessions, tools } = await aForestalledAgent();
    expect(await sessions.revoke(name)).toBe(true);
    await expect(tools.of(caller)).rejects.toMatchObject({ code: 'conflict', reason: 'SessionRevoked' });
  });

  it('is not touched by an operator of another tenant', async () => {
    const { sessions, tools, clock } = await aForestalledAgent();
    const foreign = { ...sealSession('rival'), execution_id: executionId, registered: 'other' };
    await sessions.register(foreign, clock.now());
    await sessions.revoke({ tenant: 'rival', execution_id: executionId });
    expect(await tools.of(caller)).toMatchObject({ executionId });
  });
});
