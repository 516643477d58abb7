import { parentPort } from 'node:worker_threads';
import { packReading, readOpenApi } from '../openapi-document/index.ts';
import { agentReadingOf, type ReadingRequest, readingOf, resourceReadingOf } from './reading.ts';

// A parser makes an error for each of a hundred thousand wrong tokens, and their stack traces are not read.
Error.stackTraceLimit = 0;

/** The thread that reads manifests: it receives a text and returns its reading. */
parentPort?.on('message', (request: ReadingRequest) => parentPort?.postMessage(answerTo(request)));

function answerTo(request: ReadingRequest): unknown {
  if (request.kind === 'OpenApi') return packReading(readOpenApi(request.text, request.serverUrl));
  if (request.kind === 'Resource') return resourceReadingOf(request.text, request.of);
  return request.kind === 'Agent' ? agentReadingOf(request.text) : readingOf(request.text);
}

// The first message says that there is a thread; loading it takes longer than most texts do.
parentPort?.postMessage('ready');
