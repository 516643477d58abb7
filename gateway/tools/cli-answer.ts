import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { toolState } from '../../lib/cli-tool/workflow-of.ts';
import { fieldsOf } from '../../lib/execution/blackboard-entry.ts';
import { type BlobReader, wholeValue } from '../../lib/execution/whole-value.ts';
import type { ValueAnswer } from './tool-source.ts';

/** Bytes of large output that one answer holds; the execution keeps the rest. */
const answerBytes = 1024 * 1024;

/** Parts of the entry that an answer shows. The entry has everything a second time under `output`. */
const streams: ReadonlySet<string> = new Set(['/stdout', '/stderr']);

/**
 * The answer of a CLI tool: `stdout`, `stderr`, `exit_code`, `truncated` and the name of the execution. `exit_code` is
 * negative where no command ran (requirements AMB-160), and then `content` says why.
 */
export async function cliAnswer(execution: WorkflowExecution, readBlob: BlobReader): Promise<ValueAnswer> {
  const stored = execution.status?.blackboard?.[toolState];
  if (stored === undefined) return notRun(reasonOf(execution), execution);
  const refs = (stored.refs ?? []).filter(({ path }) => streams.has(path));
  const fitting = fittingOf(refs);
  const entry = fieldsOf(await wholeValue({ ...stored, refs: fitting }, readBlob)) ?? {};
  return answerOf(execution, entry, fitting.length < refs.length || entry['truncated'] === true);
}

/** Those that have room, stdout first: where one is too large, the other is there. */
function fittingOf<Ref extends { readonly path: string; readonly bytes: number }>(refs: readonly Ref[]): Ref[] {
  let room = answerBytes;
  return refs
    .toSorted((a, b) => Number(b.path === '/stdout') - Number(a.path === '/stdout'))
    .filter(({ bytes }) => {
      if (bytes > room) return false;
      room -= bytes;
      return true;
    });
}

type Entry = Readonly<Record<string, unknown>>;

function answerOf(execution: WorkflowExecution, entry: Entry, isCut: boolean): ValueAnswer {
  const { exit_code: exitCode, error, stdout, stderr } = entry;
  if (typeof exitCode !== 'number' || exitCode < 0)
    return notRun(typeof error === 'string' ? error : reasonOf(execution), execution);
  const structured = {
    stdout: textOf(stdout),
    stderr: textOf(stderr),
    exit_code: exitCode,
    ...(isCut && { truncated: true }),
    execution: execution.metadata.name,
  };
  return { content: JSON.stringify(structured), structured, isError: exitCode !== 0 };
}

const notRun = (why: string, { metadata }: WorkflowExecution): ValueAnswer => ({
  content: `the command did not run to its end: ${why} (execution ${metadata.name})`,
  isError: true,
});

/** Why the state failed, else why the execution did. */
function reasonOf({ status }: WorkflowExecution): string {
  const last = status?.history?.at(-1);
  const { reason = 'unknown', message = '' } = last?.reason === undefined ? (status ?? {}) : last;
  return `${reason}: ${message}`;
}

/** A stream that is JSON is parsed. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
