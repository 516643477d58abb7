import { limits } from '../../../crds/limits.ts';
import { isJsonObject } from '../../json-object.ts';
import { answer, failure } from '../answers.ts';
import { policy } from '../name-policy.ts';
import { absolutePath, boundariesOf, isDenied, isInside, pathDenials, workspace } from '../path-rules.ts';
import type { Boundary } from '../path-overlap.ts';
import type { DispatchResult, ToolAnswer, ToolArguments, ToolCaller, ToolRefusal, ToolRun } from '../tool.ts';

/** One argument of a program has at most 128 KiB; 32,768 UTF-16 units are 96 KiB at most. */
const chunkUnits = 32_768;

const seconds = 30;
const outputBytes = 2_097_152;

/** Arguments of each operation beside `path`, as `runner fs` names them. */
const operations = {
  read: [],
  write: ['content'],
  list: [],
  create_dir: [],
  delete: ['recursive'],
  edit: ['target_content', 'replacement_content'],
  multi_edit: ['edits'],
  grep: ['pattern'],
  glob: ['pattern'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type FileOperation = keyof typeof operations;
export const fileOperations = Object.keys(operations) as readonly FileOperation[];

/** `fs.*`: one request to `runner fs` in the pod that mounts the files (spec 3 §10.3, design §12). */
export function runFileTool(op: FileOperation): ToolRun {
  return {
    kind: 'pod',
    problem: (caller, { path }) => pathProblem(caller, path),
    plan(caller, args) {
      const request = fileRequest(op, args, {
        path: absolutePath(args['path'] as string),
        boundaries: boundariesOf(caller),
        deny: pathDenials(caller),
      });
      return {
        command: runner,
        args: ['fs', ...chunksOf(request)],
        cwd: workspace,
        env_additions: {},
        timeout_secs: seconds,
        max_output_bytes: outputBytes,
      };
    },
    answer: (_caller, _args, result) => readFileAnswer(result),
  };
}

function pathProblem(caller: ToolCaller, path: unknown): ToolRefusal | undefined {
  // A longer one is refused with the other arguments: patterns take time with the length of a path.
  if (typeof path !== 'string' || path.length > limits.toolPathLength) return undefined;
  const absolute = absolutePath(path);
  if (!isInside(boundariesOf(caller), absolute))
    return policy('PathOutsideBoundary', `${path.slice(0, 200)} is outside the folders that this agent may touch`);
  if (!isDenied(pathDenials(caller), absolute)) return undefined;
  return policy('PERMISSION_DENIED', `${path.slice(0, 200)} is in deny_list of the SecurityContext`);
}

/** Where the runner is in the pod of every step. */
export const runner = '/windlass/runner';

interface FilePlace {
  readonly path: string;
  readonly boundaries: readonly Boundary[];
  readonly deny: readonly string[];
}

/** The request whose answer is the content of a file, text or not, and on failure an answer and the exit code 1. */
export const bytesRequest = ({ path, boundaries, deny }: FilePlace): string =>
  JSON.stringify({ op: 'bytes', path, boundaries, deny });

/** One request to `runner fs`, as JSON. */
export function fileRequest(op: FileOperation, args: ToolArguments, { path, boundaries, deny }: FilePlace): string {
  const given = operations[op].flatMap((name) => {
    const value = args[name];
    return value === undefined || value === null ? [] : [[name, value] as const];
  });
  return JSON.stringify({ op, path, ...Object.fromEntries(given), boundaries, deny });
}

/** Parts that together are the text; none ends within a character. */
export function chunksOf(text: string): string[] {
  const chunks: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = at + chunkUnits;
    const isSplit = end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1));
    const chunk = text.slice(at, isSplit ? end - 1 : end);
    chunks.push(chunk);
    at += chunk.length;
  }
  return chunks;
}

type FileResult = Pick<DispatchResult, 'stdout' | 'stderr' | 'exit_code' | 'truncated'>;

/** The answer of `runner fs`. */
export function readFileAnswer({ stdout, stderr, exit_code, truncated }: FileResult): ToolAnswer {
  if (truncated) return failure('TOO_LARGE', `the answer has more than ${outputBytes} bytes; ask for less`);
  const value = parsed(stdout);
  if (exit_code !== 0 || !isJsonObject(value))
    return failure('BACKEND_ERROR', stderr.trim().slice(0, 500) || `the file tool ended with ${exit_code}`);
  const { ok, content, error, message } = value;
  if (ok === true && typeof content === 'string') return answer(content);
  return failure(typeof error === 'string' ? error : 'BACKEND_ERROR', typeof message === 'string' ? message : '');
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}
