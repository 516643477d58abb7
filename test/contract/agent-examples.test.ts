import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { answerVerdict, callVerdict, judgeAnswer, judgeCall } from '../../api/agents/verdicts/judge.ts';
import { givenAnswers } from '../../cli/simulate/given-answers.ts';
import { simulate } from '../../cli/simulate/simulation.ts';
import type { Agent } from '../../crds/schema/agent.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { checkAgent } from '../../lib/agent/check-agent.ts';
import { systemClock } from '../../lib/clock.ts';
import { createModels } from '../../lib/models/create-models.ts';
import { readNodeConfig } from '../../lib/node-config/index.ts';
import { silentLogger } from '../support/silent-logger.ts';

const folder = join(import.meta.dirname, '../../examples/agents');
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
const workflow = parse(read('panel.yaml')) as Workflow;
const agents = parseAllDocuments(read('agents.yaml'))
  .map((document) => document.toJS() as Agent)
  .filter(({ kind }) => kind === 'Agent');

describe('the authors of manifests', () => {
  const authors = parseAllDocuments(read('authors.yaml')).map((document) => document.toJS() as Agent);

  it('TOOL-RULE-08 are those that the tools start, are valid, and run in the default security context without a tool', () => {
    expect(authors.map(({ metadata }) => metadata.name)).toEqual(['agent-author', 'workflow-author']);
    for (const { spec } of authors) {
      expect(checkAgent(spec)).toEqual([]);
      expect([spec.security, spec.tools]).toEqual([undefined, undefined]);
    }
  });
});

let server: ChildProcessByStdio<null, Readable, null>;
let endpoint = '';
let address = '';
beforeAll(async () => {
  const [program, script] = ['scripted-model.mjs', 'script.json'].map((file) => join(folder, file));
  server = spawn(process.execPath, [program ?? '', script ?? '', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(server.stdout, 'data')) as [Buffer];
  endpoint = line.toString().trim();
  address = `${endpoint}/chat/completions`;
});
afterAll(() => server.kill());

/** Lines of the demonstration's model as this agent. */
async function say(name: string, input: string): Promise<string> {
  const instruction = agents.find(({ metadata }) => metadata.name === name)?.spec.task.instruction ?? '';
  const messages = [
    { role: 'system', content: instruction },
    { role: 'user', content: input },
  ];
  const response = await fetch(address, { method: 'POST', body: JSON.stringify({ model: 'demo', messages }) });
  const body = (await response.json()) as { choices: { message: { content: string } }[] };
  return body.choices[0]?.message.content ?? '';
}

const judges = ['judge-accuracy', 'judge-clarity', 'judge-risk'];

/** The path that the workflow takes with what the model says. */
async function runOf() {
  const drafts = [await say('writer', 'a change'), await say('writer', 'a change\nMend this draft: it')];
  const verdicts = judges.map((judge) => Promise.all(drafts.map((draft) => say(judge, `Notes: ${draft}`))));
  const panel = await Promise.all(verdicts);
  const review = await say('reviewer', drafts[1] ?? '');
  const { score } = JSON.parse(review) as { score: number };
  const answers = givenAnswers(
    workflow.spec,
    {
      write: drafts.map((output) => ({ output })),
      ...Object.fromEntries(panel.map((texts, judge) => [`panel/${judge}`, texts.map((output) => ({ output }))])),
      review: { output: review, score },
      publish: { stdout: 'published\n' },
    },
    [],
  );
  return simulate({
    workflow,
    others: [],
    start: { input: { change: 'a change' }, intent: 'for you' },
    answer: answers,
  });
}

describe('the example of agents', () => {
  it.each(agents.map(({ metadata, spec }) => [metadata.name, spec] as const))('%s is a valid agent', (_name, spec) => {
    expect(checkAgent(spec)).toEqual([]);
  });

  it('has every agent that its workflow names', () => {
    const names = Object.values(workflow.spec.states).flatMap((state) => {
      if (state.kind === 'ParallelAgents') return state.agents.map(({ agent }) => agent);
      return state.kind === 'Agent' ? [state.agent] : [];
    });
    expect([...new Set(names)].toSorted()).toEqual(agents.map(({ metadata }) => metadata.name).toSorted());
  });

  it('sends the first draft back once, with the words of the judges, and publishes the second one', async () => {
    const { status, finalOutput, renderings } = await runOf();
    const path = ['write', 'panel', 'write', 'panel', 'review', 'file', 'publish', 'done'];
    expect(status.history?.map(({ state }) => state)).toEqual(path);
    expect(status.phase).toBe('completed');
    const again = renderings.find(({ state, visit }) => state === 'write' && visit === 2);
    expect(again?.input).toContain('Nothing warns that slow requests fail.');
    expect(finalOutput).toMatchObject({ title: 'A shorter default timeout', notes: expect.stringMatching(/^Second/) });
  });
});

describe('the judges with rules of our own', () => {
  const question = { alias: 'default', budget: {}, withinMs: 30_000, signal: new AbortController().signal };
  const deps = () => {
    const served = [{ alias: 'default', model: 'demo' }];
    const provider = { name: 'scripted', type: 'openai', api_key: 'env:KEY', endpoint, models: served };
    const config = readNodeConfig(JSON.stringify({ spec: { llm_providers: [provider] } }), { KEY: 'none' });
    const models = createModels({ clock: systemClock, logger: silentLogger, random: () => 0 }, config);
    return { tenant: 'a', models, onWait: () => new DisposableStack() };
  };

  it('find a verdict in the script, which accepts an answer that no rule judges', async () => {
    const answer = { task: 'You write tales. First draft', input: '[]', criteria: 'Short.', answer: 'Once.' };
    expect(answerVerdict((await judgeAnswer(deps(), answer, question)).content)).toMatchObject({ score: 0.9 });
    const call = { task: 'You write tales.', tool: 'fs.read', arguments: {} };
    expect(callVerdict((await judgeCall(deps(), call, question)).content)).toMatchObject({ allowed: true });
  });

  it('name the field of the agent and the known aliases where their own is not defined', async () => {
    const answer = { task: 'You write tales.', input: '', answer: 'Once.' };
    const lost = { ...question, alias: 'defualt', field: 'spec.execution.validation.model' };
    await expect(judgeAnswer(deps(), answer, lost)).rejects.toThrow(
      'the model alias defualt is not defined; did you mean default?; defined: default; change spec.execution.validation.model',
    );
  });
});
