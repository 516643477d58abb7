import { parentPort } from 'node:worker_threads';
import { readingOf } from './reading.ts';

// A parser makes an error for each of a hundred thousand wrong tokens, and nobody looks at where in the code it did.
Error.stackTraceLimit = 0;

/** The thread that reads manifests: a text comes, its reading goes back. */
parentPort?.on('message', (text: string) => parentPort?.postMessage(readingOf(text)));
// The first message says that there is a thread; loading it takes longer than most texts do.
parentPort?.postMessage('ready');
