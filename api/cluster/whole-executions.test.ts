import { describe, expect, it } from 'vitest';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { stripFinished } from '../../lib/execution/strip-finished.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { createWholeExecutions } from './whole-executions.ts';

const ended = (name: string, text = 'x'): WorkflowExecution => {
  const built = anExecution(name)
    .with({ input: { text } })
    .past({ state: 'a' }, text)
    .status({ final_output: { text } })
    .ended('completed', 3)
    .build();
  return { ...built, metadata: { ...built.metadata, uid: name } };
};

function server(...objects: WorkflowExecution[]) {
  const asked: string[] = [];
  const get = async (_: unknown, { name }: { name: string }) => {
    asked.push(name);
    const found = objects.find(({ metadata }) => metadata.name === name);
    if (found === undefined) throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'x' });
    return found;
  };
  return { asked, whole: createWholeExecutions({ get: get as never }) };
}

describe('an execution of the cache', () => {
  it('keeps of its end what a list shows', () => {
    const { spec, status, metadata } = stripFinished(ended('a'));
    expect(metadata.name).toBe('a');
    expect(spec).toEqual({ workflow: 'demo' });
    expect(status).toMatchObject({ phase: 'completed', finished_at: expect.any(String) });
    expect(JSON.stringify(status)).not.toContain('"x"');
  });

  it('keeps everything while it runs', () => {
    const running = anExecution()
      .with({ input: { a: 1 } })
      .now({ state: 'a', kind: 'Human' })
      .build();
    expect(stripFinished(running)).toEqual(running);
  });
});

describe('the whole of an execution', () => {
  it('that runs is what the cache has', async () => {
    const { whole, asked } = server();
    const running = anExecution().now({ state: 'a', kind: 'Human' }).build();
    expect(await whole(running)).toBe(running);
    expect(asked).toEqual([]);
  });

  it('that has ended is read once, by any number of readers', async () => {
    const { whole, asked } = server(ended('a'));
    const stripped = stripFinished(ended('a'));
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => whole(stripped)));
    expect(answers.every((answer) => answer?.status?.final_output !== undefined)).toBe(true);
    expect((await whole(stripped))?.spec.input).toEqual({ text: 'x' });
    expect(asked).toEqual(['a']);
  });

  it('is nothing when it is gone, or another one has its name', async () => {
    const { whole } = server({ ...ended('a'), metadata: { ...ended('a').metadata, uid: 'another' } });
    expect(await whole(stripFinished(ended('a')))).toBeUndefined();
    expect(await whole(stripFinished(ended('b')))).toBeUndefined();
  });

  it('is kept up to a budget, the ones read last', async () => {
    const large = Array.from({ length: 20 }, (_, index) => ended(`e${index}`, 'x'.repeat(700_000)));
    const { whole, asked } = server(...large);
    for (const one of large) await whole(stripFinished(one));
    asked.length = 0;
    for (const one of large.toReversed()) await whole(stripFinished(one));
    expect(asked.length).toBeGreaterThan(10);
    expect(asked.length).toBeLessThan(20);
    expect(asked).not.toContain('e19');
  });
});
