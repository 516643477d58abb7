import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { forgetProcess, recordProcess } from '../../../test/cluster/harness/process-record.ts';
import { programPath } from '../../../test/cluster/outputs/programs.ts';

/** Facts about the daemons since their streams were asked for. */
interface DaemonCounts {
  readonly hosts: number;
  /** Commands that came. */
  readonly commands: number;
  /** Ends of streams and attempts, by status and message. */
  readonly ends: Readonly<Record<string, number>>;
}

/** Many light daemons in one process of Go, each from an address of the loopback network (dev/setup/go/many-daemons). */
export interface ManyDaemons {
  /** Enrolls a host for each line of the file. */
  enroll(relay: string, tokensFile: string): Promise<void>;
  /** Hosts of a server that checks nothing; their credentials have so many bytes. */
  pretend(server: string, hosts: number, tokenBytes: number): Promise<void>;
  /** Keeps the streams of the first hosts from now on. */
  connect(hosts: number, heartbeatMs: number): Promise<void>;
  counts(): Promise<DaemonCounts>;
  disconnect(): Promise<void>;
  stop(): Promise<void>;
}

type Answer = DaemonCounts & { readonly problem?: string };

export async function startManyDaemons(): Promise<ManyDaemons> {
  const program = await programPath('many-daemons');
  const child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child, 'spawn');
  await recordProcess(child.pid ?? 0, 'many-daemons');
  const ask = asking(child);
  const obey = async (order: object): Promise<void> => void (await ask(order));
  return {
    enroll: (relay, tokens) => obey({ do: 'enroll', relay, tokens, at_once: 64 }),
    pretend: (relay, hosts, token_bytes) => obey({ do: 'pretend', relay, hosts, token_bytes }),
    connect: (hosts, heartbeat_ms) => obey({ do: 'connect', hosts, heartbeat_ms }),
    counts: () => ask({ do: 'count' }),
    disconnect: () => obey({ do: 'disconnect' }),
    async stop() {
      const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
      child.kill('SIGKILL');
      await gone;
      await forgetProcess(child.pid ?? 0);
    },
  };
}

/** One order at a time; each has one line as its answer. */
function asking(child: { readonly stdin: Writable; readonly stdout: Readable }): (order: object) => Promise<Answer> {
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return async (order) => {
    child.stdin.write(`${JSON.stringify(order)}\n`);
    const { value, done } = await lines.next();
    if (done === true) throw new Error('the process of the daemons has ended');
    const answer = JSON.parse(value) as Answer;
    if (answer.problem !== undefined) throw new Error(`the daemons: ${answer.problem}`);
    return answer;
  };
}
