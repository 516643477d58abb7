import { isJsonObject } from '../../lib/json-object.ts';
import { RawText } from '../../lib/output-store/raw-text.ts';
import type { StepOutcome } from '../step-pods/step.ts';
import { gitLimits } from './limits.ts';

/** The tree after an operation. */
interface Tree {
  readonly commit: string;
  readonly branch?: string;
  readonly ahead: boolean;
  readonly bytes?: number;
}

/** How an operation ended. */
export type JobEnd =
  | { readonly kind: 'done'; readonly tree: Tree; readonly output?: string }
  | { readonly kind: 'failed'; readonly error: string; readonly message: string };

export const failedJob = (error: string, message: string): JobEnd => ({ kind: 'failed', error, message });

/** Members of an answer that only `status` and `diff` have. */
const found = ['changes', 'diff', 'truncated'] as const;

/** The answer of `runner git`, which is one line of JSON. */
export function readGitAnswer(outcome: StepOutcome): JobEnd {
  const { exitCode, stdout } = outcome;
  const value = parsed(stdout instanceof RawText ? stdout.text : stdout);
  if (exitCode !== 0 || !isJsonObject(value)) return withoutAnswer(outcome);
  const { ok, commit } = value;
  return ok === true && typeof commit === 'string' ? done(value, commit) : refused(value);
}

function withoutAnswer({ exitCode, failure, lost }: StepOutcome): JobEnd {
  const message = failure?.message ?? lost ?? `it ended with exit code ${exitCode}`;
  return failedJob(failure?.reason ?? 'HELPER_FAILED', message);
}

const refused = ({ error, message }: Readonly<Record<string, unknown>>): JobEnd =>
  failedJob(typeof error === 'string' ? error : 'GIT_FAILED', typeof message === 'string' ? message : '');

function done(value: Readonly<Record<string, unknown>>, commit: string): JobEnd {
  const { branch, ahead, bytes } = value;
  const tree = {
    commit,
    ahead: ahead === true,
    ...(typeof branch === 'string' ? { branch } : {}),
    ...(typeof bytes === 'number' ? { bytes } : {}),
  };
  const members = found.filter((name) => value[name] !== undefined).map((name) => [name, value[name]]);
  if (members.length === 0) return { kind: 'done', tree };
  const output = JSON.stringify(Object.fromEntries(members));
  if (output.length > gitLimits.outputLength)
    return failedJob('TOO_LARGE', 'the answer has too many names; ask for less');
  return { kind: 'done', tree, output };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}
