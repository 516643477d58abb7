import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const files = globSync('{crds,lib,controllers,api,client,cli,gateway,relay,edge}/**/*.ts', { cwd: root }).filter(
  (path) => !path.endsWith('.test.ts') && !path.includes('generated'),
);
const importersOf = (pattern: RegExp): string[] =>
  files.filter((path) => pattern.test(readFileSync(resolve(root, path), 'utf8')));

describe('who asks providers of models', () => {
  it('LLM-18 is the API alone, of all processes', () => {
    const callers = importersOf(/from '.*\/models\/(create-models|connection|index)\.ts'/);
    expect(callers.filter((path) => !/^(api|lib\/models)\//.test(path))).toEqual([]);
    expect(callers.length).toBeGreaterThan(0);
  });

  it('LLM-18 are looked for in every folder that a process of ours is made of', () => {
    const folders = globSync('*/main.ts', { cwd: root }).map((path) => path.replace('/main.ts', ''));
    expect(folders.toSorted()).toEqual(['api', 'cli', 'controllers', 'edge', 'gateway', 'relay']);
    for (const folder of folders) expect(files.some((path) => path.startsWith(`${folder}/`))).toBe(true);
  });

  it('LLM-18 is one folder, to which the packages of the providers belong', () => {
    const importers = importersOf(/(from|import\() ?'(openai|@anthropic-ai\/sdk|ollama)['/]/);
    expect(importers.map((path) => path.replace(/\/[^/]*$/, ''))).toEqual(Array(3).fill('lib/models'));
  });

  it('loads the packages of providers on demand alone', () => {
    const eager = importersOf(/^import (?!type )[^;]*'(openai|@anthropic-ai\/sdk|ollama)'/m);
    expect(eager).toEqual([]);
  });
});
