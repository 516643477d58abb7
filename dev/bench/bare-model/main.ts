/** The baseline of executions that wait for a model: a process that asks it as often, with the package of the provider alone. */
import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { OpenAI } from 'openai';
import { type AgentSetup, modelName } from '../agent-setup.ts';

// As in the API's own main.ts.
setFlagsFromString('--no-allocation-site-pretenuring');

const { modelUrl } = JSON.parse(process.argv[2] ?? '{}') as AgentSetup;

async function ask(): Promise<void> {
  const client = new OpenAI({ baseURL: modelUrl, apiKey: 'bench', maxRetries: 0, logLevel: 'off' });
  const messages = [
    { role: 'system', content: 'You work. carefully' },
    { role: 'user', content: 'do it' },
  ] as const;
  const stream = await client.chat.completions.create({ model: modelName, messages: [...messages], stream: true });
  for await (const _chunk of stream);
}

process.on('message', (uids) => {
  for (const _uid of String(uids).split(',')) void ask().catch(() => undefined);
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port: 0 });
