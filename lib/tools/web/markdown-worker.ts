import { parentPort, workerData } from 'node:worker_threads';
import TurndownService from 'turndown';

/** A thread that turns the HTML it is started with into Markdown. Scripts are taken out; nothing is run or loaded. */
const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced' });
service.remove(['script', 'style', 'noscript', 'iframe', 'object', 'title']);
parentPort?.postMessage(service.turndown(workerData as string));
