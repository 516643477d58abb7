import { execFileSync } from 'node:child_process';
import process from 'node:process';

/**
 * Connections that the kernel takes for a port of this process while the process itself takes none: another process opens them, and
 * this one waits for it without a turn of its loop. The other one gives up once no connection came for so long that the kernel has
 * asked for those that it dropped more than once.
 */
export function connectMany(port: number, count: number): number {
  const script = `
    const { connect } = require('node:net');
    let open = 0;
    let idle;
    const tell = () => (console.log(open), process.exit(0));
    const rearm = () => (clearTimeout(idle), (idle = setTimeout(tell, 4000)));
    rearm();
    for (let number = 0; number < ${count}; number += 1)
      connect(${port}, '127.0.0.1').on('error', () => undefined).on('connect', () => {
        open += 1;
        rearm();
        if (open === ${count}) tell();
      });`;
  return Number(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' }));
}

/** More than Node's own queue of 511, and no more than the file descriptors that each process has anywhere. */
export const manyConnections = 800;
