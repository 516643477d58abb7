import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { WorkflowExecutionStatus } from '../../crds/schema/workflow-execution-status.ts';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { AppError } from '../errors.ts';
import { createBlob } from '../output-store/blob.ts';
import { archiveLimits } from './limits.ts';
import { readRecord, writeRecord } from './record.ts';

const rest = async (): Promise<void> => undefined;

/** A store of these texts. */
function storeOf(...texts: (string | Uint8Array)[]) {
  const blobs = new Map(texts.map((text) => createBlob(Buffer.from(text))).map(({ ref, data }) => [ref, data]));
  return async ({ ref }: { readonly ref: string }): Promise<Uint8Array> => {
    const data = blobs.get(ref);
    if (data === undefined) throw new AppError('not_found', `${ref} is lost`);
    return data;
  };
}

const part = (text: string | Uint8Array, encoding: 'text' | 'json' = 'text', path = '') => {
  const { ref, data } = createBlob(Buffer.from(text));
  return { path, ref, bytes: data.byteLength, encoding };
};

const ended = (status: Partial<WorkflowExecutionStatus>): WorkflowExecution =>
  anExecution().ended('completed', 5).status(status).build();

describe('AMB-174 the record of an execution', () => {
  it('is the object as it ended, with who decided what, and each large value in full', async () => {
    const signal = { id: 'gate-1', by: 'ada', at: '2026-01-02T03:04:06Z', response: 'yes' };
    const execution = anExecution()
      .with({ input: { a: 1 }, signals: [{ ...signal, state: 'gate' }] })
      .past({ state: 'gate', kind: 'Human', signal })
      .ended('completed', 5)
      .status({ blackboard: { log: { refs: [part('a long text')] } }, final_output_ref: part('{"n":1}', 'json') })
      .build();
    const record = await readRecord(await writeRecord(execution, storeOf('a long text', '{"n":1}'), rest));
    expect(record.execution).toEqual(execution);
    expect(Buffer.from(await record.read(part('a long text'))).toString()).toBe('a long text');
    expect(Buffer.from(await record.read(part('{"n":1}'))).toString()).toBe('{"n":1}');
    expect(record.leftOut).toEqual([]);
  });

  it.each([
    ['no byte', Buffer.alloc(0)],
    ['line breaks', Buffer.from('\n\n{"format":1}\n')],
    ['bytes that are no text', Buffer.from([0, 255, 254, 10, 0])],
  ])('keeps values byte for byte: %s', async (_title, data) => {
    const execution = ended({ blackboard: { a: { refs: [part(data)] }, b: { refs: [part('behind')] } } });
    const record = await readRecord(await writeRecord(execution, storeOf(data, 'behind'), rest));
    expect(Buffer.from(await record.read(part(data))).equals(data)).toBe(true);
    expect(Buffer.from(await record.read(part('behind'))).toString()).toBe('behind');
  });

  it.each([
    [archiveLimits.valuesBytes - 6, []],
    [archiveLimits.valuesBytes - 5, []],
    [archiveLimits.valuesBytes - 4, ['large']],
  ])('holds 10 MiB of values and names what it leaves out: %i bytes before one of 5', async (bytes, want) => {
    const large = Buffer.alloc(bytes, 'a');
    const execution = ended({
      final_output_ref: part(large),
      blackboard: { last: { refs: [part('hello')] } },
      history: [],
    });
    const record = await readRecord(await writeRecord(execution, storeOf(large, 'hello'), rest));
    expect(record.leftOut.map(({ why }) => why)).toEqual(want);
    expect(Buffer.from(await record.read(part(large))).byteLength).toBe(bytes);
    expect(record.execution.status?.blackboard?.['last']).toEqual({ refs: [part('hello')] });
  });

  it('names a value that the output store has lost, and fails where the store cannot be asked', async () => {
    const execution = ended({ blackboard: { a: { refs: [part('gone')] } } });
    const record = await readRecord(await writeRecord(execution, storeOf(), rest));
    expect(record.leftOut).toMatchObject([{ ref: part('gone').ref, why: 'lost' }]);
    await expect(record.read(part('gone'))).rejects.toMatchObject({ code: 'not_found' });
    const away = async (): Promise<never> => Promise.reject(new AppError('unavailable', 'no answer'));
    await expect(writeRecord(execution, away, rest)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('has the same bytes whenever it is written', async () => {
    const execution = ended({ blackboard: { a: { refs: [part('text')] } } });
    const [first, second] = [
      await writeRecord(execution, storeOf('text'), rest),
      await writeRecord(execution, storeOf('text'), rest),
    ];
    expect(Buffer.from(first).equals(second)).toBe(true);
  });

  it('can be read with zcat and jq: its first line is JSON', async () => {
    const body = await writeRecord(ended({}), storeOf(), rest);
    const [line = ''] = gunzipSync(body).toString().split('\n');
    expect(JSON.parse(line)).toMatchObject({
      format: 'windlass.dev/execution-record/1',
      execution: { kind: 'WorkflowExecution' },
    });
  });

  it.each([
    ['no gzip', Buffer.from('text')],
    ['another format', gzipSync('{"format":"other"}\n')],
    ['no JSON', gzipSync('text\n')],
    ['more than any record has', gzipSync(Buffer.alloc(archiveLimits.recordBytes + 1))],
  ])('is refused where it is none: %s', async (_title, body) => {
    await expect(readRecord(body)).rejects.toMatchObject({ reason: 'ArchiveRecordBroken' });
  });

  it('gives each value a turn of its own', async () => {
    let turns = 0;
    const texts = ['one', 'two', 'three'];
    const execution = ended({ blackboard: { all: { refs: texts.map((text) => part(text)) } } });
    await writeRecord(execution, storeOf(...texts), async () => void (turns += 1));
    expect(turns).toBeGreaterThan(texts.length);
  });
});
