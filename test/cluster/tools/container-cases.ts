import type { ToolCase } from './tool-case.ts';

/** A case of a tool that runs in the container of an agent. */
export type ContainerCase = Required<Pick<ToolCase, 'tool' | 'args' | 'want' | 'refused'>>;

const file = '/workspace/docs/a.txt';
const outside = /^PathOutsideBoundary: /;

/** Tools that run in the container of an agent, whose commands are `wc -l`; each sees what those before have done. */
export const containerCases: readonly ContainerCase[] = [
  {
    tool: 'fs.create_dir',
    args: { path: '/workspace/docs' },
    want: /^Folder \/workspace\/docs exists$/,
    refused: [{ path: '/etc/docs' }, outside],
  },
  {
    tool: 'fs.write',
    args: { path: file, content: 'one\ntwo\n' },
    want: /^Wrote 8 bytes to \/workspace\/docs\/a\.txt$/,
    refused: [{ path: '/etc/passwd', content: '' }, outside],
  },
  {
    tool: 'fs.edit',
    args: { path: file, target_content: 'two', replacement_content: 'three' },
    want: /^Edited \/workspace\/docs\/a\.txt: 1 lines replaced by 1$/,
    refused: [{ path: file, target_content: 'nine', replacement_content: '' }, /^NO_MATCH: /],
  },
  {
    tool: 'fs.multi_edit',
    args: { path: file, edits: [{ target_content: 'one', replacement_content: 'zero' }] },
    want: /^Edited \/workspace\/docs\/a\.txt: 1 replacements$/,
    refused: [{ path: '/workspace/none', edits: [{ target_content: 'a', replacement_content: 'b' }] }, /^NOT_FOUND: /],
  },
  { tool: 'fs.read', args: { path: file }, want: /^zero\nthree\n$/, refused: [{ path: 'none' }, /^NOT_FOUND: /] },
  { tool: 'fs.list', args: { path: '/workspace' }, want: /^docs\/$/m, refused: [{ path: 'none' }, /^NOT_FOUND: /] },
  {
    tool: 'fs.grep',
    args: { pattern: 'th.ee', path: '/workspace' },
    want: /^\/workspace\/docs\/a\.txt:2:three$/,
    refused: [{ pattern: '(', path: '/workspace' }, /^INVALID_PATTERN: /],
  },
  {
    tool: 'fs.glob',
    args: { pattern: '**/*.txt', path: '/workspace' },
    want: /^docs\/a\.txt$/,
    refused: [{ pattern: '*', path: '/etc' }, outside],
  },
  {
    tool: 'cmd.run',
    args: { command: 'wc', args: ['-l', file] },
    want: { stdout: `2 ${file}\n`, stderr: '', exit_code: 0 },
    refused: [{ command: 'rm', args: ['-r', '/workspace'] }, /^CommandNotAllowed: /],
  },
  {
    tool: 'fs.delete',
    args: { path: '/workspace/docs', recursive: true },
    want: /^Deleted \/workspace\/docs$/,
    refused: [{ path: '/etc' }, outside],
  },
];
