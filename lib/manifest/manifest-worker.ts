import { parentPort } from 'node:worker_threads';
import { readOpenApi } from '../openapi-document/index.ts';
import { agentReadingOf, type ReadingRequest, readingOf, resourceReadingOf } from './reading.ts';

// A parser makes an error for each of a hundred thousand wrong tokens, and nobody looks at where in the code it did.
Error.stackTraceLimit = 0;

/** The thread that reads manifests: a text comes, its reading goes back. */
parentPort?.on('message', (request: ReadingRequest) => parentPort?.postMessage(answerTo(request)));

function answerTo(request: ReadingRequest): unknown {
  if (request.kind === 'OpenApi') return readOpenApi(request.text, request.serverUrl);
  if (request.kind === 'Resource') return resourceReadingOf(request.text, request.of);
  return request.kind === 'Agent' ? agentReadingOf(request.text) : readingOf(request.text);
}

// The first message says that there is a thread; loading it takes longer than most texts do.
parentPort?.postMessage('ready');
