import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Parses each text it is sent, and answers how much more of its heap is in use with the value than before. */
const program = `
  const { parentPort } = require('node:worker_threads');
  require('node:v8').setFlagsFromString('--expose-gc');
  const collect = require('node:vm').runInNewContext('gc');
  parentPort.on('message', (text) => {
    collect();
    const before = process.memoryUsage().heapUsed;
    const value = JSON.parse(text);
    collect();
    const after = process.memoryUsage().heapUsed;
    parentPort.postMessage(value === undefined ? 0 : after - before);
  });
`;

/** Measures the memory that parsed texts keep, in a thread whose heap has nothing else: a collection there takes little time. */
export class ParsedHeap {
  readonly #thread = new Worker(program, { eval: true });

  /** Bytes of heap that the value of a JSON text keeps; one text at a time. */
  async bytesOf(text: string): Promise<number> {
    const answered = once(this.#thread, 'message');
    this.#thread.postMessage(text);
    return ((await answered) as [number])[0];
  }

  async close(): Promise<void> {
    await this.#thread.terminate();
  }
}
