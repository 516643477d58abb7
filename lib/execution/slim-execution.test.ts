import { describe, expect, it } from 'vitest';
import type { Signal } from '../../crds/schema/workflow-execution.ts';
import { after, anExecution } from '../../test/builders/execution-builder.ts';
import { answeredIdOf } from '../decision/approval-id.ts';
import { firstSignal } from '../decision/first-signal.ts';
import { defined } from '../defined.ts';
import { heapBytes } from '../heap-bytes.ts';
import { slimExecution } from './slim-execution.ts';

const text = 'x'.repeat(60_000);
const signal = (index: number, state = 'ask'): Signal => ({
  id: `s${index}`,
  state,
  visit: 1,
  response: text,
  feedback: text,
  by: 'ann',
  at: after(1),
});

describe('what the cache keeps of an execution', () => {
  it('is small, whatever users put into it', () => {
    const signals = Array.from({ length: 500 }, (_, index) => signal(index));
    const metadata = { annotations: { other: text }, labels: { other: 'y' } };
    const built = anExecution()
      .with({ input: { text }, intent: text, blackboard: { seed: text }, signals })
      .past({ state: 'a' }, text)
      .now({ state: 'ask', kind: 'Human', prompt: text })
      .build();
    const kept = slimExecution({ ...built, metadata: { ...built.metadata, ...metadata } });
    expect(heapBytes(kept, 1e9)).toBeLessThan(3_000);
    expect(JSON.stringify(kept)).not.toContain('x'.repeat(100));
  });

  it('says of a cancellation that there is one', () => {
    const cancel = { by: 'ж'.repeat(512), at: after(1), reason: 'x'.repeat(1_024) };
    expect(slimExecution(anExecution().with({ cancel }).build()).spec.cancel).toEqual({ by: '', at: '' });
  });

  it('holds the text that the status and its condition share once', () => {
    const message = 'x'.repeat(1_024);
    const condition = { type: 'Succeeded', status: 'False' as const, reason: 'Timeout', lastTransitionTime: after(1) };
    const status = { message, conditions: [{ ...condition, message: 'x'.repeat(1_024) }] };
    const kept = slimExecution(anExecution().status(status).build()).status;
    expect(kept).toMatchObject(status);
    expect(kept?.conditions?.[0]?.message).toBe(kept?.message);
  });

  it('is what wakes: names, phase, times, place, verdict, parent, our own notes', () => {
    const parent = { name: 'p', uid: 'u', state: 's', visit: 1, depth: 1 };
    const built = anExecution().with({ parent, input: { text } }).past({ state: 'a' }, text).ended('failed', 5).build();
    const owner = { apiVersion: 'windlass.dev/v1', kind: 'WorkflowExecution', name: 'p', uid: 'u' };
    const foreign = { apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'c' };
    const metadata = {
      ...built.metadata,
      annotations: { 'windlass.dev/started-by': 'ann', other: text },
      ownerReferences: [owner, foreign],
    };
    const kept = slimExecution({ ...built, metadata });
    expect(kept.metadata).toMatchObject({
      annotations: { 'windlass.dev/started-by': 'ann' },
      ownerReferences: [owner],
    });
    expect(kept.metadata.annotations).not.toHaveProperty('other');
    expect(kept.spec).toEqual({ workflow: 'demo', parent });
    expect(kept.status).toMatchObject({ phase: 'failed', finished_at: after(5) });
    expect(kept.status).not.toHaveProperty('history');
  });

  it('keeps which executions run it again, for the list is compared before it is written', () => {
    const built = anExecution().ended('failed', 5).build();
    const successors = [{ name: 'again', uid: 'u1' }];
    const status = { phase: 'failed' as const, ...built.status, successors };
    expect(slimExecution({ ...built, status }).status?.successors).toEqual(successors);
  });

  it.each<[title: string, signals: Signal[], isPending: boolean]>([
    ['without an answer', [], true],
    ['the last of many has', [...Array.from({ length: 20 }, (_, index) => signal(index, 'other')), signal(20)], false],
    ['with an answer to an earlier state', [signal(0, 'other')], true],
  ])('says whether a person is still asked: %s', (_title, signals, isPending) => {
    const { spec, status } = slimExecution(
      anExecution().with({ signals }).now({ state: 'ask', kind: 'Human' }).build(),
    );
    const asked = { state: 'ask', visit: 1, ...status?.current };
    expect(firstSignal(spec.signals, asked) === undefined).toBe(isPending);
  });

  /** To the visit that waits, to an earlier one, to whichever waits, and to another state. */
  const forms: Pick<Signal, 'state' | 'visit'>[] = [
    { state: 'ask', visit: 2 },
    { state: 'ask', visit: 1 },
    { state: 'ask' },
    { state: 'other', visit: 2 },
  ];
  const lists = [1, 2, 3].flatMap((length) =>
    Array.from({ length: forms.length ** length }, (_list, number) =>
      Array.from({ length }, (_signal, at): Signal => {
        const form = forms[Math.floor(number / forms.length ** at) % forms.length];
        return { id: `s${at}`, state: '', ...form, response: text, by: 'ann', at: after(1) };
      }),
    ),
  );

  it('finds an answer where there is one, and the question that was answered last, whatever was signalled before', () => {
    const counts = [undefined, 1, 2, 3];
    for (const signals of lists)
      for (const signals_before of counts)
        for (const signals_refused of counts) {
          const current = defined({ state: 'ask', kind: 'Human' as const, visit: 2, signals_before, signals_refused });
          const whole = anExecution().with({ signals }).now(current).build();
          const slim = slimExecution(whole);
          const asked = { visit: 1, ...slim.status?.current, state: 'ask' };
          expect(firstSignal(slim.spec.signals, asked) === undefined).toBe(firstSignal(signals, current) === undefined);
          expect(answeredIdOf(slim)).toBe(answeredIdOf(whole));
        }
  });
});
