import { expect } from 'vitest';
import type { ToolCase } from './tool-case.ts';

const unknown = /^NOT_FOUND: (Volume not found|there is no (script|binding) "nowhere"; )/;
const lost = { volume_id: 'nowhere', path: 'docs/a.txt' };
const nowhere = { binding_id: 'nowhere' };

export const resourceCases: readonly ToolCase[] = [
  {
    tool: 'svc.volume.create',
    args: { label: 'data', size_limit_bytes: 1_048_576 },
    want: { name: 'data' },
    notes: { volume: 'volume_id' },
    refused: [{ label: 'data', size_limit_bytes: 1 }, /^CONFLICT: .*there is a volume data already/],
  },
  {
    tool: 'svc.volume.list',
    args: {},
    want: { volumes: expect.arrayContaining([expect.objectContaining({ name: 'data' })]) },
  },
  { tool: 'svc.volume.quota', args: {}, want: { volumes: expect.any(Number), bounds: [] } },
  {
    tool: 'svc.file.mkdir',
    args: ({ volume }) => ({ volume_id: volume, path: 'docs' }),
    want: /^Folder \/files\/docs exists$/,
    refused: [lost, unknown],
  },
  {
    tool: 'svc.file.write',
    args: ({ volume }) => ({ volume_id: volume, path: 'docs/a.txt', content: 'one\n' }),
    want: /^Wrote 4 bytes to \/files\/docs\/a\.txt$/,
    refused: [{ ...lost, content: '' }, unknown],
  },
  {
    tool: 'svc.file.list',
    args: ({ volume }) => ({ volume_id: volume, path: 'docs' }),
    want: /^a\.txt$/,
    refused: [lost, unknown],
  },
  {
    tool: 'svc.file.read',
    args: ({ volume }) => ({ volume_id: volume, path: 'docs/a.txt' }),
    want: /^one\n$/,
    refused: [lost, unknown],
  },
  {
    tool: 'svc.file.delete',
    args: ({ volume }) => ({ volume_id: volume, path: 'docs', recursive: true }),
    want: /^Deleted \/files\/docs$/,
    refused: [lost, unknown],
  },
  {
    tool: 'svc.volume.delete',
    args: ({ volume }) => ({ volume_id: volume }),
    want: { status: 'deleted' },
    refused: [{ volume_id: 'nowhere' }, unknown],
  },
  {
    tool: 'svc.script.save',
    args: { name: 'Count lines', code: 'wc -l', language: 'sh' },
    want: { name: 'Count lines', characters: 5 },
    notes: { script: 'id' },
    refused: [{ name: 'Count lines', code: 'x' }, /^CONFLICT: there is a script Count lines already/],
  },
  {
    tool: 'svc.script.get',
    args: ({ script }) => ({ id: script }),
    want: { code: 'wc -l' },
    refused: [{ id: 'nowhere' }, unknown],
  },
  { tool: 'svc.script.list', args: { q: 'lines' }, want: { scripts: [{ name: 'Count lines' }] } },
  {
    tool: 'svc.script.update',
    args: ({ script }) => ({ id: script, name: 'Count words', code: 'wc -w' }),
    want: { name: 'Count words' },
    refused: [{ id: 'nowhere', name: 'x', code: 'x' }, unknown],
  },
  {
    tool: 'svc.script.delete',
    args: ({ script }) => ({ id: script }),
    want: { status: 'deleted' },
    refused: [{ id: 'nowhere' }, unknown],
  },
];

/** Over `repository`, whose branch main may be pushed to; `test/cluster/git` has everything else about it. */
export const gitCases: readonly ToolCase[] = [
  {
    tool: 'svc.git.clone',
    args: ({ repository }) => ({ repo_url: repository, label: 'site', secret: 'https', ref: 'main' }),
    want: { branch: 'main', ahead: false },
    notes: { binding: 'binding_id', tree: 'volume_id' },
    refused: [{ repo_url: 'file:///etc', label: 'other' }, /^INVALID_ARGUMENT: repo_url/],
  },
  { tool: 'svc.git.list', args: { limit: 10 }, want: { total: 1 } },
  {
    tool: 'svc.git.commit',
    first: ['svc.file.write', ({ tree }) => ({ volume_id: tree, path: 'current/a.txt', content: 'mine\n' })],
    args: ({ binding }) => ({ binding_id: binding, message: 'Change a' }),
    want: { ahead: true },
    refused: [({ binding }) => ({ binding_id: binding, message: 'Again' }), /^NothingToCommit: /],
  },
  {
    tool: 'svc.git.status',
    args: ({ binding }) => ({ binding_id: binding }),
    want: { changes: [] },
    refused: [nowhere, unknown],
  },
  {
    tool: 'svc.git.diff',
    args: ({ binding }) => ({ binding_id: binding }),
    want: { diff: '' },
    refused: [nowhere, unknown],
  },
  {
    tool: 'svc.git.push',
    args: ({ binding }) => ({ binding_id: binding }),
    want: { ahead: false },
    refused: [nowhere, unknown],
  },
  {
    tool: 'svc.git.refresh',
    args: ({ binding }) => ({ binding_id: binding }),
    want: { ahead: false },
    refused: [nowhere, unknown],
  },
  {
    tool: 'svc.git.delete',
    args: ({ binding }) => ({ binding_id: binding }),
    want: { status: 'deleted' },
    refused: [nowhere, unknown],
  },
];
