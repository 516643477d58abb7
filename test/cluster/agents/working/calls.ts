/** A call of an agent's tool, and how it ends. */
interface HandCase {
  /** The requirements of which it is a case. */
  readonly id: string;
  readonly tool: string;
  readonly args: object;
  readonly is_error: boolean;
  readonly want: RegExp;
}

const file = '/workspace/docs/a.txt';
const sh = (text: string): object => ({ command: 'sh', args: ['-c', text] });
/** So many bytes on standard output, and on standard error. */
const writes = (out: number, err = 0): object =>
  sh(`head -c ${out} /dev/zero | tr '\\0' x; head -c ${err} /dev/zero | tr '\\0' y >&2`);
const mostBytes = 524_288;

const good = (id: string, tool: string, args: object, want: RegExp): HandCase => ({
  id,
  tool,
  args,
  is_error: false,
  want,
});
const bad = (id: string, tool: string, args: object, want: RegExp): HandCase => ({
  id,
  tool,
  args,
  is_error: true,
  want,
});

/** Calls of an agent that may run `sh -c`, `wc -l` and `pwd` for two seconds; each sees what those before have done. */
export const handCases: readonly HandCase[] = [
  good('TOOL-CMD-01 TOOL-CMD-02', 'cmd.run', { command: 'pwd' }, /"stdout":"\/workspace\\n".*"exit_code":0/),
  good(
    'TOOL-CMD-03',
    'cmd.run',
    sh('echo out; echo err >&2; exit 3'),
    /^{"stdout":"out\\n","stderr":"err\\n","exit_code":3}$/,
  ),
  good('TOOL-CMD-04 TOOL-CMD-05', 'cmd.run', { command: 'wc', args: ['-l', '/etc/passwd'] }, /"exit_code":0/),
  bad('TOOL-CMD-06', 'web.fetch', { url: 'http://example.com/' }, /^ToolNotAllowed: /),
  bad('TOOL-CMD-07', 'cmd.run', { command: 'rm', args: ['-l'] }, /^CommandNotAllowed: /),
  bad('TOOL-CMD-08', 'cmd.run', { command: 'wc', args: ['-c', '/etc/passwd'] }, /^SubcommandNotAllowed: /),
  bad('TOOL-CMD-08', 'cmd.run', { command: 'wc' }, /^SubcommandNotAllowed: /),
  good('TOOL-CMD-09', 'cmd.run', writes(mostBytes - 1), /"exit_code":0/),
  good('TOOL-CMD-09', 'cmd.run', writes(mostBytes), /"exit_code":0/),
  bad('TOOL-CMD-09', 'cmd.run', writes(mostBytes + 1), /^OutputSizeLimitExceeded: /),
  bad('TOOL-CMD-09', 'cmd.run', writes(mostBytes - 1, 2), /^OutputSizeLimitExceeded: /),
  bad('TOOL-CMD-10', 'cmd.run', sh('sleep 60'), /^ExecTimeoutCeilingExceeded: /),
  good('TOOL-FS-05', 'fs.create_dir', { path: '/workspace/docs/deep' }, /exists$/),
  good('TOOL-FS-05', 'fs.create_dir', { path: '/workspace/docs/deep' }, /exists$/),
  bad('TOOL-FS-05', 'fs.create_dir', { path: '/etc/docs' }, /^PathOutsideBoundary: /),
  good(
    'TOOL-FS-03',
    'fs.write',
    { path: file, content: 'one\ntwo\ntwo\n' },
    /^Wrote 12 bytes to \/workspace\/docs\/a\.txt$/,
  ),
  bad('TOOL-FS-01 TOOL-FS-03', 'fs.write', { path: '/workspace/denied/x', content: '' }, /^PERMISSION_DENIED: /),
  bad('TOOL-FS-01 TOOL-FS-02', 'fs.read', { path: '/workspace/denied/x' }, /^PERMISSION_DENIED: /),
  bad('TOOL-FS-02', 'fs.read', { path: '/workspace/../etc/passwd' }, /^PathOutsideBoundary: /),
  bad('TOOL-FS-02', 'fs.read', { path: '/workspace/none' }, /^NOT_FOUND: /),
  good('TOOL-FS-04', 'fs.list', { path: '/workspace/docs' }, /^a\.txt\ndeep\/$/),
  bad('TOOL-FS-04', 'fs.list', { path: '/workspace/none' }, /^NOT_FOUND: /),
  bad('TOOL-FS-04', 'fs.list', { path: '/etc' }, /^PathOutsideBoundary: /),
  bad('TOOL-FS-08', 'fs.edit', { path: file, target_content: 'nine', replacement_content: '' }, /^NO_MATCH: /),
  bad('TOOL-FS-08', 'fs.edit', { path: file, target_content: 'two', replacement_content: '' }, /^AMBIGUOUS_MATCH: /),
  good(
    'TOOL-FS-08',
    'fs.edit',
    { path: file, target_content: 'one', replacement_content: '1' },
    /^Edited .*a\.txt: 1 lines/,
  ),
  bad(
    'TOOL-FS-09',
    'fs.multi_edit',
    {
      path: file,
      edits: [
        { target_content: '1', replacement_content: 'first' },
        { target_content: 'nine', replacement_content: '' },
      ],
    },
    /^NO_MATCH: /,
  ),
  good('TOOL-FS-09', 'fs.read', { path: file }, /^1\ntwo\ntwo\n$/),
  good(
    'TOOL-FS-09',
    'fs.multi_edit',
    {
      path: file,
      edits: [
        { target_content: '1', replacement_content: 'first' },
        { target_content: 'first\ntwo', replacement_content: 'second' },
      ],
    },
    /: 2 replacements$/,
  ),
  good('TOOL-FS-10', 'fs.grep', { pattern: '^se', path: '/workspace' }, /^\/workspace\/docs\/a\.txt:1:second$/),
  bad('TOOL-FS-10', 'fs.grep', { pattern: '(', path: '/workspace' }, /^INVALID_PATTERN: /),
  good('TOOL-FS-11', 'fs.glob', { pattern: '**/*.txt', path: '/workspace' }, /^docs\/a\.txt$/),
  good('TOOL-FS-11', 'fs.glob', { pattern: '*.none', path: '/workspace' }, /^$/),
  bad('TOOL-FS-06', 'fs.delete', { path: '/workspace/docs' }, /^DIRECTORY_NOT_EMPTY: /),
  bad('TOOL-FS-07', 'fs.delete', { path: '/workspace/none' }, /^NOT_FOUND: /),
  bad('TOOL-FS-07', 'fs.delete', { path: '/etc/passwd' }, /^PathOutsideBoundary: /),
  bad('TOOL-FS-07', 'fs.delete', { path: '/workspace/denied/x' }, /^PERMISSION_DENIED: /),
  good('TOOL-FS-06', 'fs.delete', { path: '/workspace/docs', recursive: true }, /^Deleted \/workspace\/docs$/),
];

interface JudgeCase {
  readonly tool: string;
  readonly args: object;
  /** By a judge, where one looks. */
  readonly refused: boolean;
  /** The answer where it runs. */
  readonly runs: RegExp;
}

/** The judge of the scripted model refuses whatever holds the word forbidden. */
export const judgeCases: readonly JudgeCase[] = [
  { tool: 'cmd.run', args: sh('echo fine'), refused: false, runs: /"stdout":"fine\\n"/ },
  { tool: 'cmd.run', args: sh('echo forbidden'), refused: true, runs: /"stdout":"forbidden\\n"/ },
  { tool: 'fs.write', args: { path: 'forbidden', content: 'x' }, refused: true, runs: /^Wrote 1 bytes/ },
  // No judge looks at what only reads (spec 3 §10.2).
  { tool: 'fs.glob', args: { pattern: 'forbidden*', path: '/workspace/' }, refused: false, runs: /^(forbidden)?$/ },
];
