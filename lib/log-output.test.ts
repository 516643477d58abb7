import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

/** A program that logs to its standard output. */
const program = (body: string): readonly string[] => [
  '--input-type=module',
  '--eval',
  `import { gatheredOutput } from ${JSON.stringify(import.meta.resolve('./log-output.ts'))};
   import { createLogger } from ${JSON.stringify(import.meta.resolve('./logger.ts'))};
   import { systemClock } from ${JSON.stringify(import.meta.resolve('./clock.ts'))};
   const output = gatheredOutput(systemClock);
   process.once('exit', () => output.flush());
   const logger = createLogger({ level: 'info', service: 'test', destination: output });
   ${body}`,
];

const messagesOf = (text: string): string[] =>
  text
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { msg: string }).msg);

describe('what is logged', () => {
  it.each([1, 40, 5_000])('just before the process exits, %i lines, is written in its order', async (count) => {
    const body = `for (let i = 0; i < ${count}; i++) logger.info({}, 'line ' + i); process.exit(0);`;
    const { stdout } = await promisify(execFile)(process.execPath, program(body), { maxBuffer: 2 ** 24 });
    expect(messagesOf(stdout)).toEqual(Array.from({ length: count }, (_, i) => `line ${i}`));
  });

  it('just before the process ends by an error is written', async () => {
    const body = `logger.error({}, 'last words'); throw new Error('a bug');`;
    const failed = await promisify(execFile)(process.execPath, program(body)).catch((error) => error);
    expect(messagesOf(failed.stdout)).toEqual(['last words']);
  });

  it('is there soon in a process that keeps running', async () => {
    const child = spawn(process.execPath, program(`logger.info({}, 'alone'); setInterval(() => undefined, 1_000);`));
    try {
      const [chunk] = await once(child.stdout, 'data');
      expect(messagesOf(String(chunk))).toEqual(['alone']);
    } finally {
      child.kill();
    }
  });

  it('holds no process up whose reader is gone', async () => {
    const body = `setInterval(() => logger.info({}, 'x'.repeat(10_000)), 5); setTimeout(() => process.exit(7), 500);`;
    const child = spawn(process.execPath, program(body));
    await once(child.stdout, 'data');
    child.stdout.destroy();
    expect(await once(child, 'exit')).toEqual([7, null]);
  });
});
