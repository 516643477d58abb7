import { readFile } from 'node:fs/promises';
import type { ApiReplica } from './harness/index.ts';

/** A line that a replica has logged. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

/** Everything that a replica has logged so far. Other lines than the logger's are left out. */
export async function logOf({ logFile }: ApiReplica): Promise<LogLine[]> {
  const text = await readFile(logFile, 'utf8');
  return text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as LogLine] : []));
}

/** The last line with this message that fits, once there is one; throws after `patienceMs`. */
export async function waitForLog(
  replica: ApiReplica,
  message: string,
  fits: (line: LogLine) => boolean = () => true,
  patienceMs = 10_000,
): Promise<LogLine> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const found = (await logOf(replica)).findLast((line) => line.msg === message && fits(line));
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`nothing logged '${message}'; see ${replica.logFile}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
