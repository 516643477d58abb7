import { describe, expect, it } from 'vitest';
import type { Signal, WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type { AuditEntry } from '../../../lib/bus/index.ts';
import { answeredIdOf, approvalId } from '../../../lib/decision/approval-id.ts';
import { slimExecution } from '../../../lib/execution/slim-execution.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import { after, anExecution } from '../../../test/builders/execution-builder.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { createDecideRoutes, type DecideDeps } from './decide.ts';

const asked = (signals: Signal[] = []) =>
  anExecution().with({ signals }).now({ state: 'ask', kind: 'Human', visit: 1 });
const id = approvalId(asked().build().metadata.uid ?? '', { state: 'ask', visit: 1 });
const at = after(1);
const approved: Signal = { id: 'ask-1', state: 'ask', visit: 1, response: 'approved', by: 'ada', at, via: 'api' };

/** Audit records of an approval by ada while the server has `execution`, and the cache its kept part. */
async function recordedBy(execution: WorkflowExecution): Promise<object> {
  const recorded: AuditEntry[] = [];
  const deps = {
    kube: { mergePatch: async () => execution },
    clock: createManualClock(),
    gate: async () => undefined,
    cluster: {
      agentAsks: { known: () => undefined },
      executions: {
        asking: async () => execution,
        whole: async () => execution,
        remember: () => undefined,
      },
    },
    audit: { record: (entry: AuditEntry) => void recorded.push(entry) },
  } as unknown as DecideDeps;
  const request = { params: { id: id.toUpperCase() }, body: {}, caller: { subject: 'ada', tenant: 'acme' } };
  const answer = await createDecideRoutes(deps)[0]
    ?.handle(request as never)
    .then(
      () => 'done',
      (error: unknown) => (error instanceof HttpError ? error.code : String(error)),
    );
  return { answer, audited: recorded.map(({ type, act, doneAt }) => ({ type, act, doneAt })) };
}

describe('the audit trail of decisions, and of those whose answer was lost', () => {
  const audited = { type: 'HumanApprovalApproved', act: id, doneAt: at };

  it('tells of a decision', async () => {
    expect(await recordedBy(asked().build())).toEqual({ answer: 'done', audited: [{ ...audited, doneAt: undefined }] });
  });

  it.each<[title: string, signal: Signal, want: object[]]>([
    ['an existing one, to the user who gave it', approved, [audited]],
    ['the existing decision', { ...approved, response: 'rejected' }, [{ ...audited, type: 'HumanApprovalRejected' }]],
    ['nothing of the decision of another user', { ...approved, by: 'kim' }, []],
    ['nothing of a decision by kubectl', { ...approved, via: 'kubectl' }, []],
    ['nothing of an answer that is no decision', { ...approved, response: 'constructor' }, []],
  ])('tells of %s, before and after the end of the execution', async (_title, signal, want) => {
    const gone = { answer: 'not_found', audited: want };
    expect(await recordedBy(asked([signal]).build())).toEqual(gone);
    expect(await recordedBy(asked([signal]).ended('completed', 2).build())).toEqual(gone);
  });

  it('finds what was answered last, though only a part of it is kept of an execution that has ended', () => {
    const signals = [
      { ...approved, visit: 2 },
      { ...approved, feedback: 'secret' },
    ];
    const ended = asked(signals).ended('completed', 2);
    const kept = slimExecution(ended.build());
    expect(answeredIdOf(kept)).toBe(id);
    expect(JSON.stringify(kept)).not.toContain('secret');
    expect(answeredIdOf(asked().build())).toBeUndefined();
  });
});
