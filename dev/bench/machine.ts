import { readFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';

/** Seconds of processor time that the whole machine has spent on work since boot. */
export async function machineCpuSeconds(): Promise<number> {
  const fields = (await readFile('/proc/stat', 'utf8')).split('\n')[0]?.trim().split(/\s+/).slice(1).map(Number) ?? [];
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = fields;
  // The kernel counts in hundredths of a second for user space, whatever its own tick.
  return (user + nice + system + irq + softirq) / 100;
}

/** Resident memory of a process in MiB. */
export async function residentMiB(pid: number): Promise<number> {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'));
  if (line === null) throw new Error(`process ${pid} shows no resident memory`);
  return Number(line[1]) / 1024;
}

/** What the numbers were measured on, in one line. */
export function machineLine(): string {
  const [first] = cpus();
  return `${cpus().length} processors (${first?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB of memory`;
}
