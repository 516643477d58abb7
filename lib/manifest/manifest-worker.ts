import { parentPort } from 'node:worker_threads';
import { agentReadingOf, type ReadingRequest, readingOf } from './reading.ts';

// A parser makes an error for each of a hundred thousand wrong tokens, and nobody looks at where in the code it did.
Error.stackTraceLimit = 0;

/** The thread that reads manifests: a text comes, its reading goes back. */
parentPort?.on('message', ({ kind, text }: ReadingRequest) =>
  parentPort?.postMessage(kind === 'Agent' ? agentReadingOf(text) : readingOf(text)),
);
// The first message says that there is a thread; loading it takes longer than most texts do.
parentPort?.postMessage('ready');
