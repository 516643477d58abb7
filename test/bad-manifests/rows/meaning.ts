import type { BadManifest } from '../row.ts';
import { at, byController, nested, rule, s } from './words.ts';

export const meaning: readonly BadManifest[] = [
  byController(
    'WF-SYS-01',
    'a template that is not closed',
    [[`${s}.system.command`, 'echo {{input.branch']],
    [`${s}.system.command`, 'template', ''],
  ),
  byController(
    'WF-SYS-01',
    'a call_tool without a tool',
    [
      [`${s}.system.command`, 'call_tool'],
      [`${s}.system.env`, {}],
    ],
    [`${s}.system.env.tool`, 'required', 'name the tool'],
  ),
  byController(
    'WF-SYS-01',
    'a call_tool whose tool is a template',
    [
      [`${s}.system.command`, 'call_tool'],
      [`${s}.system.env`, { tool: '{{input.branch}}' }],
    ],
    [`${s}.system.env.tool`, 'pattern', 'without a template'],
  ),
  byController(
    'WF-SYS-01',
    'a call_tool whose arguments are a list',
    [
      [`${s}.system.command`, 'call_tool'],
      [`${s}.system.env`, { tool: 'web.fetch', arguments: '[]' }],
    ],
    [`${s}.system.env.arguments`, 'type', 'JSON text of one object'],
  ),
  byController(
    'WF-CR-05',
    'an unknown helper in a command element',
    [[`${s}.container.command.2`, '{{shout input.branch}}']],
    [`${s}.container.command[2]`, 'template', ''],
  ),
  byController(
    'WF-CR-08',
    'a bad template in env',
    [[`${s}.container.env.TOKEN_FILE`, '{{#if}}']],
    [`${s}.container.env.TOKEN_FILE`, 'template', ''],
  ),
  byController(
    'WF-HUMAN-01',
    'a block of no helper in a prompt',
    [[`${s}.approval.prompt`, '{{#shout}}x{{/shout}}']],
    [`${s}.approval.prompt`, 'template', ''],
  ),
  byController(
    'AMB-170 WF-HUMAN-03',
    'a default_response that matches no rule',
    [[`${s}.approval.transitions`, [{ condition: 'input_equals_yes', target: 'done' }]]],
    [`${s}.approval.default_response`, 'unmatched_response', 'matches no rule'],
  ),
  byController(
    'WF-COND-03',
    'a bad template in a feedback',
    [[`${rule('agent', 2)}.feedback`, '{{/each}}']],
    [`${at('agent', 2)}.feedback`, 'template', ''],
  ),
  byController(
    'WF-MAN-11',
    'a bad template in output_template',
    [['spec.output_template.log', '{{}}']],
    ['spec.output_template.log', 'template', ''],
  ),
  byController(
    'WF-COND-25 AMB-067',
    'an expression with an operator that is none',
    [[`${rule('child')}.expression`, 'a === b']],
    [`${at('child')}.expression`, 'expression', ''],
  ),
  byController(
    'WF-COND-25 AMB-067',
    'an expression that calls a function',
    [[`${rule('child')}.expression`, 'exit(1)']],
    [`${at('child')}.expression`, 'expression', ''],
  ),
  byController(
    'WF-STOR-01',
    'a template that names an undeclared shared volume',
    [[`${s}.agent.volumes.1.volume`, '{{workflow.storage.shared_volumes.nope}}']],
    [`${s}.agent.volumes[1].volume`, 'unknown_volume', ''],
  ),
  byController(
    'WF-MAN-09 AMB-087',
    'a remote reference in input_schema',
    [['spec.input_schema.properties.branch', { $ref: 'https://example.org/branch.json' }]],
    ['spec.input_schema.properties.branch.$ref', 'json_schema', ''],
  ),
  byController(
    'WF-MAN-09',
    'an input_schema with a type that is none',
    [['spec.input_schema.properties.count', { type: 'whole' }]],
    ['spec.input_schema.properties.count.type', 'json_schema', ''],
  ),
  byController(
    'WF-MAN-10 AMB-087',
    'a remote reference in output_schema',
    [['spec.output_schema', { $ref: 'http://169.254.169.254/' }]],
    ['spec.output_schema.$ref', 'json_schema', ''],
  ),
  byController(
    'WF-CR-11',
    'two mounts at one path',
    [[`${s}.container.volumes.1.mount_path`, '/src/']],
    [`${s}.container.volumes[1].mount_path`, 'duplicate', ''],
  ),
  byController(
    'WF-MAN-19',
    'a constant of 65 levels',
    [['spec.context.deep', nested(65)]],
    ['spec.context.deep', 'depth', ''],
  ),
  byController(
    'AMB-061 WF-MAN-19',
    'a context key called __proto__',
    [['spec.context.__proto__', 1]],
    ['spec.context.__proto__', 'reserved_name', ''],
  ),
];
