import { describe, expect, it } from 'vitest';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import type { GatewayEvent } from '../../lib/audit-chain/index.ts';
import { AppError } from '../../lib/errors.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createInvocationAudit } from './invocation-audit.ts';
import type { GatewayCaller } from './tool-source.ts';

/** An audit whose events are stored, or refused, when the test says so. */
function open() {
  const events: { readonly event: GatewayEvent; readonly store: () => void; readonly refuse: () => void }[] = [];
  const audit = createInvocationAudit(
    {
      clock: createManualClock(),
      audit: {
        append(event) {
          const { promise, resolve, reject } = Promise.withResolvers<void>();
          events.push({ event, store: resolve, refuse: () => reject(new Error('not stored')) });
          return promise;
        },
        problem: () => undefined,
        close: async () => undefined,
      },
    },
    {
      caller: { tenant: 'acme', subject: 'a', executionId: 'e' } as GatewayCaller,
      context: { signal: new AbortController().signal, invocationId: 'i' },
      workflow: { metadata: { name: 'w', uid: 'u' }, spec: { steps: [{}] } } as unknown as ToolWorkflow,
    },
  );
  const target = { strategy: 'bearer', service: 'shop', server: undefined };
  return { audit, events, target, types: () => events.map(({ event }) => event.type) };
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(
    () => (settled = true),
    () => (settled = true),
  );
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

describe('GW-EVT-02 the events of an invocation', () => {
  it('are all stored before a step leaves the process', async () => {
    const { audit, events, target, types } = open();
    audit.started();
    await audit.credential('CredentialExchangeCompleted', target);
    const step = audit.stepStarted('read', 1);
    expect(types()).toEqual(['WorkflowInvocationStarted', 'CredentialExchangeCompleted', 'WorkflowStepStarted']);
    for (const { store } of events) {
      expect(await isSettled(step)).toBe(false);
      store();
    }
    expect(await isSettled(step)).toBe(true);
  });

  it.each([0, 1, 2])('hold a step back where the one at place %i cannot be stored', async (place) => {
    const { audit, events, target } = open();
    audit.started();
    await audit.credential('CredentialExchangeCompleted', target);
    const step = audit.stepStarted('read', 1);
    for (const [index, { store, refuse }] of events.entries()) (index === place ? refuse : store)();
    await expect(step).rejects.toThrow('not stored');
  });

  it('hold the next step back where the outcome of a step cannot be stored', async () => {
    const { audit, events } = open();
    await audit.stepExecuted('read', { status: 200, durationMs: 1, attempts: 1 });
    const after = audit.stepStarted('write', 1);
    events[0]?.refuse();
    events[1]?.store();
    await expect(after).rejects.toThrow('not stored');
    expect(audit.sent).toEqual([]);
  });

  it('end an invocation that has sent a step whether they can be stored or not, and refuse one that has sent none', async () => {
    for (const isSent of [true, false]) {
      const { audit, events } = open();
      const step = isSent ? audit.stepStarted('read', 1) : undefined;
      events[0]?.store();
      await step;
      expect(audit.sent).toEqual(isSent ? ['read'] : []);
      const ended = audit.ended({
        kind: 'completed',
        result: Buffer.from('{}'),
        state: {},
        held: new DisposableStack(),
      });
      expect(await isSettled(ended)).toBe(false);
      events.at(-1)?.refuse();
      expect(
        await ended.then(
          () => 'ended',
          () => 'refused',
        ),
      ).toBe(isSent ? 'ended' : 'refused');
    }
  });

  it('are none of the failure of an invocation whose beginning cannot be audited, as nothing waits for the bus then', async () => {
    const { audit, events, types } = open();
    audit.started();
    events[0]?.refuse();
    await audit.failed(new AppError('unavailable', 'refused', { reason: 'AuditUnavailable' }));
    expect(types()).toEqual(['WorkflowInvocationStarted']);
  });

  it('come before a failed exchange of a credential is answered', async () => {
    const { audit, events, target } = open();
    const failed = audit.credential('CredentialExchangeFailed', target);
    expect(await isSettled(failed)).toBe(false);
    events[0]?.store();
    await failed;
  });
});
