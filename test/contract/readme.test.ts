import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { checkDefinition } from '../../lib/definition/check.ts';
import { readWorkflows } from '../../lib/manifest/index.ts';

const read = (path: string): string => readFileSync(resolve(import.meta.dirname, '../..', path), 'utf8');
const readme = read('README.md');
const workflows = [...readme.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => parse(text));

describe('the readme', () => {
  it('shows one workflow, in which nothing is wrong or doubtful', () => {
    expect(workflows).toMatchObject([{ kind: 'Workflow', metadata: { name: 'greeting' } }]);
    expect(checkDefinition(workflows[0].spec)).toEqual([]);
  });
});

describe('the example in the form of the API', () => {
  it('is the example of the same name', () => {
    const [manifest] = readWorkflows(read('examples/manifest/approval.yaml'));
    const [resource] = readWorkflows(read('examples/approval.yaml'));
    expect(manifest).toMatchObject({ form: 'manifest', problems: [] });
    expect(manifest?.workflow).toEqual(resource?.workflow);
  });
});
