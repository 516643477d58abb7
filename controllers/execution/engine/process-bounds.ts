import type { Failure } from './facts.ts';

/** Linux passes a process no single argument or NAME=VALUE longer than this, its closing NUL not counted. */
const textBytes = 128 * 1024 - 1;

/**
 * Why no process can be started with rendered arguments and variables, if none can: the kernel would refuse it within
 * the container, where the cause could not be reported.
 */
export function processFailure(argv: readonly string[], env: Readonly<Record<string, string>>): Failure | undefined {
  const texts = [
    ...argv.map((text, index) => ({ what: `argument ${index} of the command`, text })),
    ...Object.entries(env).map(([name, value]) => ({ what: `env.${name}`, text: `${name}=${value}` })),
  ];
  for (const { what, text } of texts) {
    const message = problemOf(text);
    if (message !== undefined) return { reason: 'ContainerStartFailed', message: `${what} ${message}` };
  }
  return undefined;
}

function problemOf(text: string): string | undefined {
  if (text.includes('\0')) return 'contains a NUL character, which no process can be given';
  const bytes = Buffer.byteLength(text);
  if (bytes <= textBytes) return undefined;
  return `has ${bytes} bytes and a process takes ${textBytes}; pass large values through a file on a volume`;
}
