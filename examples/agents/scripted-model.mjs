// A model that says what a file says: an OpenAI-compatible server for demonstrations and tests. It needs Node alone.
//
//   node scripted-model.mjs SCRIPT.json [PORT]
//
// HOST says which address it binds to (default 127.0.0.1); PORT 0 takes a free one. The first line on standard output
// is the address. The script is read again for each request, so that it can be changed while the server runs:
//
//   {
//     "rules": [
//       {
//         "when": { "model": "m", "system_includes": "…", "last_user_includes": "…", "tool_result_includes": "…",
//                   "answer_includes": "…", "turn": 1 },
//         "reply": { "content": "…" }
//       },
//       { "reply": { "tool_calls": [{ "name": "fs.read", "arguments": { "path": "/workspace/a" } }] } }
//     ]
//   }
//
// The first rule whose conditions all hold answers; one without conditions always does. `turn` counts the model's own
// answers in the conversation, this one included. `tool_result_includes` looks at results since the last answer.
// `answer_includes` looks at the answer that a judge is asked about: the last message of the user repeats task and input
// beside it. A reply may also have `usage` {prompt_tokens, completion_tokens}, `finish_reason`, and, in place of an answer, `status` with
// `message` and `retry_after` in seconds. With `from_input` the first message of the user is a JSON list of replies, one for
// each turn; the last one stays. With `together` the rule answers once so many of its requests wait at a time, and with
// status 503 where they do not come within `together_seconds` (default 30): so a script shows what runs in parallel.

import { readFileSync, realpathSync } from 'node:fs';
import { createServer } from 'node:http';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const bodyLimit = 64 * 1024 * 1024;
const pieceLength = 16;

/** Text of a message; its content may be a list of parts. */
function textOf({ content }) {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part) => part?.text ?? '').join('') : '';
}

const lastIndex = (messages, role) => messages.findLastIndex((message) => message.role === role);

/** The last message of the user; empty where there is none. */
const lastUserText = (messages) => textOf(messages[lastIndex(messages, 'user')] ?? {});

/** `answer` of the JSON object that a judge of answers is sent; empty in any other message. */
function judgedAnswer(messages) {
  try {
    const answer = JSON.parse(lastUserText(messages))?.answer;
    return typeof answer === 'string' ? answer : '';
  } catch {
    return '';
  }
}

const conditions = {
  model: ({ model }, wanted) => model === wanted,
  system_includes: ({ messages }, text) => messages.some((each) => each.role === 'system' && textOf(each).includes(text)),
  last_user_includes: ({ messages }, text) => lastUserText(messages).includes(text),
  tool_result_includes: ({ messages }, text) =>
    messages.slice(lastIndex(messages, 'assistant') + 1).some((each) => each.role === 'tool' && textOf(each).includes(text)),
  answer_includes: ({ messages }, text) => judgedAnswer(messages).includes(text),
  turn: ({ messages }, wanted) => turnOf(messages) === wanted,
};

const turnOf = (messages) => messages.filter(({ role }) => role === 'assistant').length + 1;

/** Enough of a text for its reader to write a rule. */
const quoted = (text) => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

/** Says what no rule answers, in the words of the conditions. */
function unanswered({ model, messages }) {
  const system = messages.filter(({ role }) => role === 'system').map(textOf).join('');
  const asked = `turn ${turnOf(messages)} of model ${quoted(String(model))}`;
  return `no rule of the script answers this request: ${asked}, system ${quoted(system)}, last user ${quoted(lastUserText(messages))}`;
}

/** Requests that wait for others of their rule, by the conditions of the rule; each with the function that lets it go. */
const waiting = new Map();

/** Whether so many requests of a rule came to wait at a time. */
function areTogether(rule, { together, together_seconds: seconds = 30 }) {
  const { promise, resolve } = Promise.withResolvers();
  const line = waiting.get(rule) ?? new Set();
  waiting.set(rule, line.add(resolve));
  const late = setTimeout(() => {
    line.delete(resolve);
    resolve(false);
  }, seconds * 1000);
  late.unref();
  if (line.size >= together) {
    waiting.delete(rule);
    for (const letGo of line) letGo(true);
  }
  return promise.finally(() => clearTimeout(late));
}

/** The first rule that fits; undefined where none does. */
function ruleFor(script, request) {
  const fits = ({ when = {} }) =>
    Object.entries(when).every(([name, wanted]) => {
      if (!Object.hasOwn(conditions, name)) throw new Error(`the script has the unknown condition ${name}`);
      return conditions[name](request, wanted);
    });
  return script.rules.find(fits);
}

/** The reply of a rule to a request, once it may be given. */
async function replyOf({ when, reply }, request) {
  if (reply.together !== undefined && !(await areTogether(JSON.stringify(when), reply)))
    return { status: 503, message: `fewer than ${reply.together} requests came together` };
  return reply.from_input === true ? replyOfInput(request) : reply;
}

/** The reply of this turn from the list that the first message of the user holds. */
function replyOfInput({ messages }) {
  const replies = JSON.parse(textOf(messages.find(({ role }) => role === 'user') ?? {}));
  if (!Array.isArray(replies)) throw new Error('the input must be a JSON list of replies');
  return replies[Math.min(turnOf(messages), replies.length) - 1];
}

const plain = (name) => name.replaceAll(/[^A-Za-z0-9]/g, '_');

/** The tool in the spelling of the request: providers take no dots, and clients write something else for them. */
function offeredName(request, name) {
  const offered = (request.tools ?? []).map((tool) => tool.function.name);
  return offered.find((each) => plain(each) === plain(name)) ?? name;
}

function toolCalls(request, { tool_calls: calls = [] }) {
  const turn = request.messages.length;
  return calls.map((call, index) => ({
    index,
    id: call.id ?? `call_${turn}_${index}`,
    type: 'function',
    function: {
      name: offeredName(request, call.name),
      arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {}),
    },
  }));
}

function usageOf(request, reply, answer) {
  const prompt = reply.usage?.prompt_tokens ?? Math.ceil(JSON.stringify(request.messages).length / 4);
  const completion = reply.usage?.completion_tokens ?? Math.max(1, Math.ceil(answer.length / 4));
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

/** Everything that an answer says, before it is put into one form or the other. */
function answerOf(request, reply) {
  const calls = toolCalls(request, reply);
  const content = reply.content ?? '';
  return {
    calls,
    content,
    finish: reply.finish_reason ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    usage: usageOf(request, reply, content + JSON.stringify(calls)),
    head: { id: `chatcmpl-${Date.now()}`, created: Math.floor(Date.now() / 1000), model: request.model },
  };
}

const pieces = (text) => text.match(new RegExp(`[^]{1,${pieceLength}}`, 'gu')) ?? [];

/** The deltas of a streamed answer, in their order. */
function* deltasOf({ calls, content }) {
  yield { role: 'assistant', content: '' };
  for (const piece of pieces(content)) yield { content: piece };
  for (const { index, id, type, function: { name, arguments: text } } of calls) {
    yield { tool_calls: [{ index, id, type, function: { name, arguments: '' } }] };
    for (const piece of pieces(text)) yield { tool_calls: [{ index, function: { arguments: piece } }] };
  }
}

function sendStream(response, request, answer) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const send = (fields) =>
    response.write(`data: ${JSON.stringify({ ...answer.head, object: 'chat.completion.chunk', ...fields })}\n\n`);
  for (const delta of deltasOf(answer)) send({ choices: [{ index: 0, delta, finish_reason: null }] });
  send({ choices: [{ index: 0, delta: {}, finish_reason: answer.finish }] });
  if (request.stream_options?.include_usage) send({ choices: [], usage: answer.usage });
  response.end('data: [DONE]\n\n');
}

function sendJson(response, status, body, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

const sendError = (response, status, message, headers) =>
  sendJson(response, status, { error: { message, type: 'scripted', code: null } }, headers);

function sendWhole(response, { head, content, calls, finish, usage }) {
  const message = { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) };
  const choices = [{ index: 0, message, finish_reason: finish }];
  sendJson(response, 200, { ...head, object: 'chat.completion', choices, usage });
}

async function complete(response, script, request) {
  const rule = ruleFor(script, request);
  if (rule === undefined) return sendError(response, 400, unanswered(request));
  const reply = await replyOf(rule, request);
  if (reply.status !== undefined) {
    const headers = reply.retry_after === undefined ? {} : { 'retry-after': String(reply.retry_after) };
    return sendError(response, reply.status, reply.message ?? 'the script says so', headers);
  }
  const answer = answerOf(request, reply);
  return request.stream ? sendStream(response, request, answer) : sendWhole(response, answer);
}

async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > bodyLimit) throw new Error(`a request has at most ${bodyLimit} bytes`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

/** The server, not yet listening. `readScript` gives the script for each request. */
export function createScriptedModel(readScript) {
  return createServer(async (request, response) => {
    try {
      const { pathname } = new URL(request.url, 'http://localhost');
      if (request.method === 'GET' && pathname === '/healthz') sendJson(response, 200, { status: 'ok' });
      else if (request.method === 'GET' && pathname.endsWith('/models')) sendJson(response, 200, { object: 'list', data: [] });
      else if (request.method === 'POST' && pathname.endsWith('/chat/completions')) {
        const body = await readBody(request);
        if (!Array.isArray(body.messages)) sendError(response, 400, 'messages must be a list');
        else await complete(response, readScript(), body);
      } else sendError(response, 404, `there is no ${request.method} ${pathname}`);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else sendError(response, 400, error.message);
    }
  });
}

function main([file, port = '8080']) {
  if (file === undefined) {
    process.stderr.write('usage: node scripted-model.mjs SCRIPT.json [PORT]\n');
    process.exit(2);
  }
  const readScript = () => JSON.parse(readFileSync(file, 'utf8'));
  readScript();
  const host = process.env.HOST ?? '127.0.0.1';
  const server = createScriptedModel(readScript);
  server.listen(Number(port), host, () => process.stdout.write(`http://${host}:${server.address().port}/v1\n`));
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.once(signal, () => {
      server.close();
      server.closeAllConnections();
    });
  }
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  main(process.argv.slice(2));
}
