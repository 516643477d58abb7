import { randomBytes } from 'node:crypto';
import { type KubeClient, pods } from '../../../../lib/kube/index.ts';
import { podLog } from '../../harness/pod-log.ts';
import { waitForObject } from '../../harness/wait.ts';

/** The first message of a conversation with these servers, as JSON. */
export interface Wish {
  /** Tells the requests of one execution from those of others. */
  readonly id: string;
  /** How many requests a server refuses with 503 before it answers, by its name. */
  readonly fails?: Readonly<Record<string, number>>;
  /** Tool calls of the first turns; after them the model says the name of the server and of the model. */
  readonly calls?: readonly { readonly name: string; readonly arguments: object }[];
}

/** Servers of models in one pod. Each has a name, which begins the paths of its address. */
export interface ModelServers {
  /** The address of one that speaks OpenAI's protocol below `/v1`, and Ollama's below `/api`. */
  readonly url: (name: string) => string;
  /** The servers that were asked for a wish, in order. */
  asked(id: string): Promise<string[]>;
  remove(): Promise<void>;
}

/** Where the installation has its model, and no tenant. */
const namespace = 'windlass-models';

/** A judge of tool calls refuses those whose arguments hold the word `forbidden`. */
const program = String.raw`import { createServer } from 'node:http';
const failed = new Map();
const verdict = (text) =>
  JSON.stringify(
    text.includes('forbidden') ? { allow: false, reason: 'It is forbidden.' } : { allow: true, reason: 'It is not.' },
  );
const isJudge = ({ role, content }) => role === 'system' && content.includes('You decide whether a tool call');
const plain = (name) => name.replaceAll(/[^A-Za-z0-9]/g, '_');
function replyOf(name, { model, messages, tools = [] }) {
  const first = messages.find(({ role }) => role === 'user').content;
  if (messages.some(isJudge)) return { content: verdict(first) };
  const { id, fails = {}, calls = [] } = JSON.parse(first);
  console.log(JSON.stringify({ id, name }));
  const before = failed.get(id + name) ?? 0;
  failed.set(id + name, before + 1);
  if (before < (fails[name] ?? 0)) return { status: 503 };
  const call = calls[messages.filter(({ role }) => role === 'assistant').length];
  if (call === undefined) return { content: name + ' ' + model };
  const offered = tools.map((tool) => tool.function.name).find((each) => plain(each) === plain(call.name));
  return { content: '', call: { name: offered ?? call.name, arguments: call.arguments } };
}
function* openAi({ content, call }) {
  const chunk = (delta, finish_reason = null) => ({ choices: [{ index: 0, delta, finish_reason }] });
  const part = call && { name: call.name, arguments: JSON.stringify(call.arguments) };
  yield chunk({ role: 'assistant', content, ...(call && { tool_calls: [{ index: 0, type: 'function', function: part }] }) });
  yield chunk({}, call ? 'tool_calls' : 'stop');
  yield { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } };
}
const lines = {
  v1: (reply) => [...openAi(reply)].map((chunk) => 'data: ' + JSON.stringify(chunk) + '\n\n').join('') + 'data: [DONE]\n\n',
  api: ({ content, call }) => {
    const message = { role: 'assistant', content, ...(call && { tool_calls: [{ function: call }] }) };
    const end = { done: true, done_reason: 'stop', prompt_eval_count: 1, eval_count: 1 };
    return JSON.stringify({ message, done: false }) + '\n' + JSON.stringify({ message: { role: 'assistant', content: '' }, ...end }) + '\n';
  },
};
createServer(async (request, response) => {
  if (request.url === '/healthz') return response.end();
  let text = '';
  for await (const chunk of request) text += chunk;
  const [, name, protocol] = request.url.split('/');
  const reply = replyOf(name, JSON.parse(text));
  if (reply.status) return response.writeHead(reply.status, { 'content-type': 'application/json' }).end('{"error":{"message":"away"}}');
  response.writeHead(200, { 'content-type': protocol === 'v1' ? 'text/event-stream' : 'application/x-ndjson' });
  response.end(lines[protocol](reply));
}).listen(8080, '0.0.0.0');`;

/** `image`: one with Node. */
export async function startModelServers(kube: KubeClient, image: string): Promise<ModelServers> {
  const name = `models-${randomBytes(3).toString('hex')}`;
  await kube.create(pods, podOf(name, image));
  const ready = await waitForObject(kube, { resource: pods, namespace, name }, ({ status }) =>
    (status?.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True'),
  );
  return {
    url: (server) => `http://${ready.status?.podIP}:8080/${server}`,
    async asked(id) {
      const lines = (await podLog(kube, { namespace, name })).split('\n').filter((line) => line.startsWith('{'));
      const all = lines.map((line) => JSON.parse(line) as { readonly id: string; readonly name: string });
      return all.filter((one) => one.id === id).map((one) => one.name);
    },
    remove: async () => void (await kube.delete(pods, { namespace, name })),
  };
}

const podOf = (name: string, image: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace },
  spec: {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: 0,
    securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'models',
        image,
        command: ['/usr/local/bin/node', '--input-type=module', '--eval', program],
        readinessProbe: { httpGet: { path: '/healthz', port: 8_080 }, periodSeconds: 1 },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  },
});
