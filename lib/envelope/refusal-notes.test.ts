import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { EnvelopeError } from './envelope-error.ts';
import { createRefusalNotes, type RefusalEvent } from './refusal-notes.ts';

const session = {
  session_id: 's',
  execution_id: 'e-1',
  agent_id: 'agent-1',
  tenant: 'acme',
  security_context: 'default',
  public_key: '',
  expires_at: '2030-01-01T00:00:00Z',
} as const;
const forged = new EnvelopeError('signature_invalid', 'signature verification failed', { session });
const foreign = (asserted: string) => new EnvelopeError('token_invalid', 'invalid token', { session, asserted });

function open() {
  const stored: RefusalEvent[] = [];
  const clock = createManualClock();
  const note = createRefusalNotes({ clock, write: (event) => void stored.push(event) });
  const times = async (count: number, error: EnvelopeError): Promise<unknown[]> =>
    Promise.all(Array.from({ length: count }, async () => note(error, 'orders.get')));
  return { note, times, clock, of: (type: string) => stored.filter((event) => event.type === type) };
}

describe('the events of refused calls', () => {
  it('GW-TEN-07 of mismatches that cannot be stored are the answer of the call', async () => {
    const away = new Error('the audit is away');
    const note = createRefusalNotes({ clock: createManualClock(), write: () => Promise.reject(away) });
    expect(await note(foreign('rival'), 'orders.get')).toBe(away);
  });

  it('GW-TEN-07 GW-EVT-07 are one for each mismatch of tenants, however many envelopes of the session are forged', async () => {
    const { times, of } = open();
    await times(200, forged);
    const mismatches = foreign('rival');
    expect(await times(20, mismatches)).toEqual(Array(20).fill(mismatches));
    expect(of('TenantMismatch')).toHaveLength(20);
    expect(of('TenantMismatch')[0]).toMatchObject({
      tenant: 'acme',
      data: { subject: 'unproved', asserted_tenant: 'rival', expected_tenant: 'acme' },
    });
    expect(of('ToolInvocationRefused')).toHaveLength(10);
  });

  it('GW-TEN-07 of mismatches beyond the room of the tenant of the token are none, and such calls are answered 429', async () => {
    const { note, times, clock, of } = open();
    const answers = await times(150, foreign('rival'));
    expect(of('TenantMismatch')).toHaveLength(100);
    expect(answers.slice(100)).toEqual(Array(50).fill(expect.objectContaining({ code: 'limit_exceeded' })));
    const other = foreign('third');
    expect(await note(other, 'orders.get')).toBe(other);
    expect(await note(forged, 'orders.get')).toBe(forged);
    expect([of('TenantMismatch').length, of('ToolInvocationRefused').length]).toEqual([101, 1]);
    await clock.advance(1_000);
    await note(foreign('rival'), 'orders.get');
    expect(of('TenantMismatch')).toHaveLength(102);
    expect(of('TenantMismatch').map(({ data }) => data['left_out'])).toEqual([...Array(101).fill(undefined), 50]);
    await clock.advance(1_000);
    await note(foreign('rival'), 'orders.get');
    expect(of('TenantMismatch').at(-1)?.data).not.toHaveProperty('left_out');
  });
});
