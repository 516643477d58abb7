import { statfs } from 'node:fs/promises';
import { arch, cpus, freemem, hostname, loadavg, platform, release, totalmem, uptime } from 'node:os';
import { answer } from '../../lib/tools/answers.ts';
import { row } from '../../lib/tools/catalogue/row.ts';
import type { ToolRun } from '../../lib/tools/tool.ts';

/** A tool that only edge hosts have. */
export const hostInfoRow = row({
  name: 'host.info',
  description: 'Answers facts about the machine: system, processors, memory, load, uptime, and its file systems.',
  marks: ['repeatable', 'fleet'],
});

/** `mounts` are the folders whose file systems are reported. */
export const createHostInfo = (version: string, mounts: () => readonly string[]): ToolRun => ({
  kind: 'api',
  async run() {
    const [one = 0, five = 0, fifteen = 0] = loadavg();
    const facts = {
      hostname: hostname(),
      os: platform(),
      arch: archName(),
      kernel: release(),
      uptime_seconds: Math.round(uptime()),
      cpus: cpus().length,
      memory_bytes: totalmem(),
      memory_free_bytes: freemem(),
      load: [one, five, fifteen],
      file_systems: await Promise.all(mounts().map(fileSystemOf)),
      daemon_version: version,
    };
    return answer(JSON.stringify(facts));
  },
});

async function fileSystemOf(path: string): Promise<object> {
  try {
    const { blocks, bavail, bsize } = await statfs(path);
    return { path, bytes: blocks * bsize, free_bytes: bavail * bsize };
  } catch {
    return { path, problem: 'cannot be read' };
  }
}

/** Names as container images and packages use them. */
export const archName = (name: string = arch()): string => ({ x64: 'amd64', ia32: '386' })[name] ?? name;
