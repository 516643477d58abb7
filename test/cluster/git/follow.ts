import { pause } from '../harness/wait.ts';
import type { Called } from '../gateway/stage.ts';

/** The end of a call of a tool, as the tool answers one that ends in time. */
interface Ended {
  readonly content: string;
  readonly isError: boolean;
}

type Call = (tool: string, args: object) => Promise<Called>;

/** The fields of a row of `svc.git.list` that tell how an operation ended. */
interface Row {
  readonly binding_id: string;
  readonly phase: string;
  readonly sync_error?: string;
  readonly operation?: {
    readonly id: string;
    readonly phase: string;
    readonly error?: string;
    readonly message?: string;
  };
}

/** Tools whose answer is more than the state of a binding: they are called again when what went on has ended. */
const isRead = (tool: string): boolean =>
  ['svc.git.status', 'svc.git.diff'].includes(tool) || tool.startsWith('svc.file.');

/**
 * Calls a tool and follows what outlives its call, as the answer says: a busy cluster starts a pod later than a call waits. An
 * operation that has not begun is called again.
 */
export async function follow(call: Call, tool: string, args: object): Promise<Ended> {
  for (;;) {
    const { text, result } = await call(tool, args);
    if (result === undefined) throw new Error(`${tool}: ${text}`);
    const content = result.content[0]?.text ?? '';
    const [, word] = /^(StillRunning|BUSY): /.exec(content) ?? [];
    if (word === undefined) return { content, isError: result.isError };
    const ended = word === 'StillRunning' && !isRead(tool) ? await endOf(call, content) : undefined;
    if (ended !== undefined) return ended;
    await pause(500);
  }
}

/** Undefined where other requests followed, so that its end is not to be learnt. */
async function endOf(call: Call, said: string): Promise<Ended | undefined> {
  const [, operation] = /^StillRunning: the operation (\S+) /.exec(said) ?? [];
  const [, binding] = /binding_id ([\w-]+)/.exec(said) ?? [];
  for (;;) {
    const all = await rows(call);
    const row = all.find((one) =>
      operation === undefined ? one.binding_id === binding : one.operation?.id === operation,
    );
    if (row === undefined) return undefined;
    const ended = operation === undefined ? await endOfClone(call, row) : endOfOperation(row);
    if (ended !== undefined) return ended;
    await pause(500);
  }
}

async function rows(call: Call): Promise<readonly Row[]> {
  const { result } = await call('svc.git.list', { limit: 200 });
  return (JSON.parse(result?.content[0]?.text ?? '{}') as { bindings?: readonly Row[] }).bindings ?? [];
}

function endOfOperation(row: Row): Ended | undefined {
  const { phase, error, message } = row.operation ?? {};
  if (phase === 'failed') return { isError: true, content: `${error}: ${message}` };
  return phase === 'succeeded' ? { isError: false, content: JSON.stringify(row) } : undefined;
}

/** A clone that fails in its time leaves nothing behind. */
async function endOfClone(call: Call, row: Row): Promise<Ended | undefined> {
  if (row.phase === 'ready') return { isError: false, content: JSON.stringify(row) };
  if (row.phase !== 'failed') return undefined;
  await call('svc.git.delete', { binding_id: row.binding_id });
  return { isError: true, content: row.sync_error ?? '' };
}
