import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EdgeHost } from '../../../crds/schema/edge-host.ts';
import type { SecurityContext } from '../../../crds/schema/security-context.ts';
import type { ToolWorkflow } from '../../../crds/schema/tool-workflow.ts';
import { edgeHosts, securityContexts } from '../../../lib/kinds.ts';
import { KubeError, type KubeClient } from '../../../lib/kube/index.ts';
import { connect } from '../harness/cluster.ts';
import { toolWorkflows } from '../harness/kinds.ts';

let kube: KubeClient;
beforeAll(async () => {
  ({ kube } = await connect());
});
afterAll(() => kube.close());

/** The refusal of the API server, which stores nothing; empty where it takes the object. */
async function refusal(step: object, spec: object = {}): Promise<string> {
  const one = { name: 'one', operation_id: 'createOrder', body_template: '{}', on_error: 'AbortWorkflow', ...step };
  const object = {
    apiVersion: 'windlass.dev/v1',
    kind: 'ToolWorkflow',
    metadata: { name: 'order', namespace: 'default' },
    spec: { description: 'd', input_schema: { type: 'object' }, api_spec: 'orders', steps: [one], ...spec },
  };
  try {
    await kube.create(toolWorkflows, object as ToolWorkflow, { dryRun: true });
    return '';
  } catch (error) {
    if (error instanceof KubeError) return error.serverMessage;
    throw error;
  }
}

describe('the API server, with no process of ours, and a SecurityContext', () => {
  it.each(['orders.?', 'orders.[ab]', '{orders,fs}.*', 'fs.read '])('AMB-195 refuses the glob %s', async (glob) => {
    for (const spec of [{ tools: [glob] }, { deny_list: [glob] }]) {
      const metadata = { name: 'desk', namespace: 'default' };
      const object = { apiVersion: 'windlass.dev/v1', kind: 'SecurityContext', metadata, spec };
      await expect(kube.create(securityContexts, object as SecurityContext, { dryRun: true })).rejects.toThrow(
        `spec.${Object.keys(spec)[0]}[0]`,
      );
    }
  });
});

describe('the API server, with no process of ours, and the texts of a SecurityContext', () => {
  const create = async (spec: object): Promise<unknown> => {
    const metadata = { name: 'desk', namespace: 'default' };
    const object = { apiVersion: 'windlass.dev/v1', kind: 'SecurityContext', metadata, spec };
    return kube.create(securityContexts, object as SecurityContext, { dryRun: true });
  };
  const commandsOf = (count: number, length: number): object =>
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`k${at}`, Array.from({ length: count }, () => 'x'.repeat(length))]),
    );

  it.each<[string, object]>([
    ['long arguments', { subcommand_allowlist: commandsOf(100, 128) }],
    ['many arguments', { subcommand_allowlist: commandsOf(100, 1) }],
    ['a long command', { subcommand_allowlist: { ['k'.repeat(70_000)]: [] } }],
    [
      'hosts and tools',
      { domain_allowlist: Array(200).fill('x'.repeat(253)), tools: Array(200).fill('a'.repeat(100)) },
    ],
    ['paths', { path_allowlist: Array(100).fill(`/${'x'.repeat(1_000)}`) }],
  ])('refuses too many characters of %s, and names the fields', async (_title, spec) => {
    await expect(create(spec)).rejects.toThrow('path_allowlist, domain_allowlist and subcommand_allowlist: have more');
  });

  it('takes long lists of ordinary length, and empty ones', async () => {
    const lists = {
      tools: Array(100).fill('orders.*'),
      domain_allowlist: Array(200).fill('api.example.com'),
      path_allowlist: Array(100).fill('/workspace/some/folder/**'),
      subcommand_allowlist: commandsOf(20, 8),
    };
    await expect(create(lists)).resolves.toBeDefined();
    await expect(create({ tools: [], subcommand_allowlist: { git: [] } })).resolves.toBeDefined();
  });
});

describe('the API server, with no process of ours, and the texts of an EdgeHost', () => {
  it.each<[string, EdgeHost['spec']]>([
    ['tags', { tags: Array.from({ length: 50 }, (_, at) => `${at}`.padEnd(128, 'x')) }],
    ['a long label', { labels: { ['k'.repeat(5_000)]: '' } }],
  ])('refuses too many characters of %s, and names the fields', async (_title, spec) => {
    const metadata = { name: 'host-a', namespace: 'default' };
    const host: EdgeHost = { apiVersion: 'windlass.dev/v1', kind: 'EdgeHost', metadata, spec };
    const created = kube.create(edgeHosts, host, { dryRun: true });
    await expect(created).rejects.toThrow('tags and labels: have more than 4096 characters together');
  });
});

describe('the API server, with no process of ours', () => {
  it.each(['AbortWorkflow', 'Continue', { RetryN: 0 }, { RetryN: 20 }])(
    'GW-WF-10 takes on_error %j',
    async (policy) => {
      expect(await refusal({ on_error: policy })).toBe('');
    },
  );

  it.each(['Other', 7, { RetryN: 21 }, { RetryN: -1 }, { RetryN: 1, Other: 1 }])(
    'GW-WF-10 refuses on_error %j',
    async (policy) => {
      expect(await refusal({ on_error: policy })).toContain('spec.steps[one].on_error: must be AbortWorkflow');
    },
  );

  it.each([
    ['GW-WF-05 no steps', {}, { steps: [] }, 'spec.steps'],
    ['GW-WF-06 a step named input', { name: 'input' }, {}, 'the name is reserved'],
    [
      'GW-WF-04 two ways to name the spec',
      {},
      { api_spec_id: '7c9e6679-7425-40de-944b-e07fc1f90ae7' },
      'exactly one of',
    ],
    ['GW-WF-03 a schema of another type', {}, { input_schema: { type: 'string' } }, 'spec.input_schema.type'],
    ['a name of built-in tools', {}, { name: 'fs.read' }, 'belongs to a built-in tool'],
    ...['objects', 'lists', 'numbers'].map((what): [string, object, object, string] => {
      const part = { objects: {}, lists: [], numbers: 0 }[what];
      const schema = { type: 'object', default: { all: Array.from({ length: 40_000 }, () => part) } };
      return [`a schema of 40,000 ${what}`, {}, { input_schema: schema }, 'spec.input_schema: must have at most 32768'];
    }),
    ['GW-WF-09 a variable with a point', { extractors: { 'a.b': '$.id' } }, {}, 'extractors'],
  ])('refuses %s', async (_, step, spec, wanted) => {
    expect(await refusal(step, spec)).toContain(wanted);
  });
});
