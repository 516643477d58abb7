import { readFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';

/** Seconds of processor time that the whole machine has spent on work since boot. */
async function machineCpuSeconds(): Promise<number> {
  const fields = (await readFile('/proc/stat', 'utf8')).split('\n')[0]?.trim().split(/\s+/).slice(1).map(Number) ?? [];
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = fields;
  // The kernel counts in hundredths of a second for user space, whatever its own tick.
  return (user + nice + system + irq + softirq) / 100;
}

/** Resident memory of a process in MiB. */
export const residentMiB = (pid: number): Promise<number> => mebibytes(pid, /^VmRSS:\s+(\d+) kB$/m);

/** The most resident memory that a process has ever had, in MiB. */
export const peakMiB = (pid: number): Promise<number> => mebibytes(pid, /^VmHWM:\s+(\d+) kB$/m);

async function mebibytes(pid: number, wanted: RegExp): Promise<number> {
  const line = wanted.exec(await readFile(`/proc/${pid}/status`, 'utf8'));
  if (line === null) throw new Error(`process ${pid} shows no resident memory`);
  return Number(line[1]) / 1024;
}

/** The measuring machine, in one line. */
export function machineLine(): string {
  const [first] = cpus();
  return `${cpus().length} processors (${first?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB of memory`;
}

/** Processor time that a process has used since its start, in seconds. */
export async function processCpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The second field, the program's name, may hold spaces: count from the closing parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Processor time that passed while something ran. */
interface CpuUse<R> {
  readonly result: R;
  /** CPU time of the whole machine: API server, kubelets, containers, measurement and all. */
  readonly machineSeconds: number;
  /** CPU time of one process, where one is named. */
  readonly processSeconds: number;
}

export async function withCpuUse<R>(work: () => Promise<R>, pid?: number): Promise<CpuUse<R>> {
  const ofProcess = (): Promise<number> => (pid === undefined ? Promise.resolve(0) : processCpuSeconds(pid));
  const [machineBefore, processBefore] = [await machineCpuSeconds(), await ofProcess()];
  const result = await work();
  return {
    result,
    machineSeconds: (await machineCpuSeconds()) - machineBefore,
    processSeconds: (await ofProcess()) - processBefore,
  };
}
