import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const listed = execFileSync('git', ['ls-files', 'api', 'cli', 'controllers', 'gateway', 'lib', 'relay'], {
  cwd: root,
  encoding: 'utf8',
});
const texts = new Map(
  listed
    .split('\n')
    .filter((path) => path.endsWith('.ts') && !/(^|\/)(generated|test|dev)\/|\.test\.ts$/.test(path))
    .map((path) => [path, readFileSync(resolve(root, path), 'utf8')]),
);

const builder = 'lib/execution/build-execution.ts';

/** Objects of the form of an execution that no file sends to a server. */
const unsent: Readonly<Record<string, string>> = {
  'cli/backends/http/execution-object.ts': 'the answer of the API, as the CLI shows objects',
  'cli/simulate/simulation.ts': 'the execution of a simulation',
};

const pathsWith = (pattern: RegExp): string[] =>
  [...texts].flatMap(([path, text]) => (pattern.test(text) ? [path] : []));

it('one function makes the object of a WorkflowExecution', () => {
  const literal = /\{[^{}]*\bkind: 'WorkflowExecution',[^{}]*\b(spec|metadata)(: |,| \})/;
  expect(texts.get(builder)).toMatch(literal);
  const others = pathsWith(literal).filter((path) => path !== builder);
  expect(others.toSorted()).toEqual(Object.keys(unsent));
});

it('API, stimulus, CLI, rerun, tools of the gateway and parent states call it, and say which version was validated', () => {
  expect(pathsWith(/(?<!function )\bbuildExecution\(/).toSorted()).toEqual([
    'api/ingest/start-execution.ts',
    'api/routes/executions/start/plan-start.ts',
    'cli/backends/kubernetes/executions.ts',
    'controllers/execution/children.ts',
    'gateway/tools/cli-source.ts',
    'lib/execution/execution-again.ts',
  ]);
  expect(texts.get(builder)).toMatch(/readonly version: string \| undefined;/);
});
