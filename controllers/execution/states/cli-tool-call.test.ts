import { describe, expect, it } from 'vitest';
import type { CliTool, CliToolSpec } from '../../../crds/schema/cli-tool.ts';
import { cliToolLabels, workflowOf } from '../../../lib/cli-tool/workflow-of.ts';
import { World } from '../../../test/builders/world.ts';

const tool = (more: Partial<CliToolSpec>): CliTool => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'CliTool',
  metadata: { name: 'count', uid: 'u-1' },
  spec: {
    description: 'Counts.',
    input_schema: { type: 'object', properties: { t: { type: 'string' }, c: {} }, required: ['t'] },
    image: 'busybox',
    command: ['wc'],
    ...more,
  },
});

/** The input of the pod of a call, and the warnings of its execution. */
function called(more: Partial<CliToolSpec>, input: Record<string, string | null>) {
  const registered = tool(more);
  const world = new World(workflowOf(registered, 'tenant-acme'), { spec: { input } });
  world.execution.metadata.labels = cliToolLabels(registered);
  const { status } = world.settle();
  const [pod] = [...world.pods.values()];
  return { plan: pod?.plan, warnings: status.warnings };
}

describe('an argument that the call of a CLI tool leaves out', () => {
  const absent = { t: 'x' };

  it.each([['is absent', absent] as const, ['is null', { t: 'x', c: null }] as const])(
    'AMB-129 is empty in the command, the input, files and variables, where it %s',
    (_title, input) => {
      const { plan, warnings } = called(
        {
          command: ['wc', '{{input.t}}', '{{input.c}}', '{{input.c.deep}}', '{{upper input.c}}', '-{{json input.c}}'],
          stdin: 'a{{input.c}}b',
          files: [{ path: 'f', content: '{{input.c}}' }],
          env: { C: '{{input.c}}', D: '{{default input.c "else"}}', E: '{{#if input.c}}yes{{else}}no{{/if}}' },
        },
        input,
      );
      const feed = ['/windlass/runner', 'feed', '--stdin', 'ab', '--file', 'f', '', '--'];
      const json = input === absent ? '-' : '-null';
      expect(plan).toMatchObject({
        argv: [...feed, 'wc', 'x', '', '', '', json],
        env: { C: '', D: 'else', E: 'no' },
      });
      expect(warnings).toBeUndefined();
    },
  );
});
