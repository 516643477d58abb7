import { describe, expect, it } from 'vitest';
import type { Signal, WorkflowExecution } from '../../../../crds/schema/workflow-execution.ts';
import type { AuditEntry } from '../../../../lib/bus/index.ts';
import { after, anExecution } from '../../../../test/builders/execution-builder.ts';
import { createManualClock } from '../../../../test/support/manual-clock.ts';
import { createCancelRoute } from '../cancel/index.ts';
import { createSignalRoute, type SignalDeps } from './index.ts';

const uid = '00000000-0000-4000-8000-000000000001';
const waiting = anExecution().now({ state: 'ask', kind: 'Human', visit: 1 });
const answered: Signal = { id: 'ask-1', state: 'ask', visit: 1, response: 'yes', by: 'ada', at: after(1), via: 'api' };

/** Audit records of a route while the server has `execution`. */
async function recordedBy(make: typeof createSignalRoute | typeof createCancelRoute, execution: WorkflowExecution) {
  const recorded: AuditEntry[] = [];
  const deps = {
    kube: {
      get: async () => execution,
      mergePatch: async (_: unknown, __: unknown, { spec }: { spec: object }) => ({
        ...execution,
        spec: { ...execution.spec, ...spec },
      }),
    },
    clock: createManualClock(),
    gate: async () => undefined,
    cluster: { executions: { find: async () => execution } },
    audit: { record: (entry: AuditEntry) => void recorded.push(entry) },
  } as unknown as SignalDeps;
  const request = {
    params: { execution_id: uid },
    body: { response: 'yes' },
    caller: { subject: 'ada', tenant: 'acme' },
  };
  await make(deps)
    .handle(request as never)
    .catch(() => undefined);
  return recorded.map(({ type, act, doneAt }) => ({ type, act, doneAt }));
}

describe('the audit trail of what was written, and whose answer was lost', () => {
  const ada = { by: 'ada', at: after(1), via: 'api' };
  it.each<[title: string, signals: Signal[], audited: object[]]>([
    ['an answer', [], [{ act: 'ask-1', doneAt: undefined }]],
    ['an existing answer, to the user who gave it', [answered], [{ act: 'ask-1', doneAt: after(1) }]],
    ['nothing of the answer of another user', [{ ...answered, by: 'kim' }], []],
    ['nothing of an answer by kubectl', [{ ...answered, via: 'kubectl' }], []],
  ])('tells of %s', async (_title, signals, audited) => {
    const want = audited.map((entry) => ({ type: 'ExecutionSignalled', ...entry }));
    expect(await recordedBy(createSignalRoute, waiting.with({ signals }).build())).toEqual(want);
  });

  it.each<[title: string, fields: Partial<WorkflowExecution['spec']>, audited: object[]]>([
    ['a cancellation', {}, [{ act: 'cancel', doneAt: undefined }]],
    ['an existing one, to the user who asked for it', { cancel: ada }, [{ act: 'cancel', doneAt: after(1) }]],
    ['nothing of one by another user', { cancel: { ...ada, by: 'kim' } }, []],
    ['nothing of one by a user of the API server of the same name', { cancel: { ...ada, via: undefined } }, []],
  ])('tells of %s', async (_title, fields, audited) => {
    const want = audited.map((entry) => ({ type: 'ExecutionCancelled', ...entry }));
    expect(await recordedBy(createCancelRoute, waiting.with(fields).build())).toEqual(want);
  });
});
