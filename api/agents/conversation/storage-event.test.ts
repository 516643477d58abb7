import { describe, expect, it } from 'vitest';
import { aToolCaller } from '../../../test/builders/tool-caller.ts';
import { type FileCall, storageEvent } from './storage-event.ts';

const caller = aToolCaller({
  mounts: [
    { path: '/workspace', writable: true },
    { path: '/data', writable: true, volume: 'shared' },
    { path: '/data/inner/', writable: false, volume: 'inner' },
  ],
});
const call = (fields: Partial<FileCall> = {}): FileCall => ({
  id: 'call_1_0',
  tool: 'fs.read',
  args: { path: '/data/a.txt' },
  time: '2026-01-01T00:00:00.000Z',
  outcome: 'ok',
  ...fields,
});

describe('a storage event', () => {
  it('ORCH-EVT-01 WF-STOR-14 names operation, volume, path and execution, and no content', () => {
    const args = { path: '/data/a.txt', content: 'secret' };
    const event = storageEvent(caller, call({ tool: 'fs.write', args }));
    expect(event).toEqual({
      id: 'e-1-storage-call_1_0',
      topic: 'volume',
      source: 'api',
      type: 'StorageEvent',
      subject: 'e-1',
      tenant: 'acme',
      time: '2026-01-01T00:00:00.000Z',
      data: {
        operation: 'write',
        tool: 'fs.write',
        volume: 'shared',
        path: '/a.txt',
        outcome: 'ok',
        execution_id: 'e-1',
        agent_id: 'a-1',
        namespace: 'windlass-acme',
      },
    });
  });

  it.each([
    ['fs.read', 'read'],
    ['fs.list', 'read'],
    ['fs.grep', 'read'],
    ['fs.glob', 'read'],
    ['fs.write', 'write'],
    ['fs.edit', 'write'],
    ['fs.multi_edit', 'write'],
    ['fs.create_dir', 'write'],
    ['fs.delete', 'write'],
    ['cmd.run', undefined],
    ['toString', undefined],
  ])('WF-STOR-14 of %s is a %s', (tool, want) => {
    expect(storageEvent(caller, call({ tool }))?.data['operation']).toBe(want);
  });

  it.each([
    ['/data', 'shared', '/'],
    ['/data/inner/x', 'inner', '/x'],
    ['/data/innermost', 'shared', '/innermost'],
    ['/data/inner/../y', 'shared', '/y'],
    ['../data/z', 'shared', '/z'],
    ['notes.txt', undefined, undefined],
    ['/database', undefined, undefined],
    [7, undefined, undefined],
  ])('WF-STOR-14 for the path %s is of the volume %s at %s', (path, volume, want) => {
    const { data } = storageEvent(caller, call({ args: { path } })) ?? {};
    expect([data?.['volume'], data?.['path']]).toEqual([volume, want]);
  });

  it.each([
    [1_023, 1_024],
    [1_024, 1_024],
    [2_000, 1_024],
  ])('keeps of a path of %i units after its slash at most 1,024 in all', (length, want) => {
    const event = storageEvent(caller, call({ args: { path: `/data/${'x'.repeat(length)}` } }));
    expect(String(event?.data['path'])).toHaveLength(want);
  });
});
