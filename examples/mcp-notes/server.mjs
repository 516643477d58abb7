// A server of the Model Context Protocol over standard input and output: notes, as long as its process lives.
import { createInterface } from 'node:readline';

const notes = [];
const text = (type) => ({ type: 'object', properties: { text: { type } }, required: ['text'] });
const tools = [
  { name: 'add', description: 'Adds a note and answers how many there are.', inputSchema: text('string') },
  { name: 'list', description: 'Lists the notes.', inputSchema: { type: 'object', properties: {} } },
];

const said = (value) => ({ content: [{ type: 'text', text: value }] });
const calls = {
  add: ({ text: note }) => said(`${notes.push(note)} notes`),
  list: () => said(notes.join('\n')),
};

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'notes', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name, arguments: args = {} }) => calls[name]?.(args) ?? { ...said(`no tool ${name}`), isError: true },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = methods[method]
    ? { result: methods[method](params) }
    : { error: { code: -32_601, message: `there is no method ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
}
