import { catalogue } from '../../lib/tools/catalogue/catalogue.ts';
import type { ToolRow } from '../../lib/tools/catalogue/row.ts';
import { cell } from './field-table.ts';

/** The page of `docs/reference` that names every tool (requirements AMB-194). */
export function toolsPage(): string {
  const parts = [
    '<!-- Generated from lib/tools/catalogue by "npm run generate". Change the sources there, not this file. -->',
    '# Tools',
    'Every tool of the specification. Which of them a caller may call is in [tools](../tools.md). A tool that this release ' +
      'does not run is not offered to agents; a call of it answers `NOT_AVAILABLE`. Arguments in bold are required. ' +
      '`Judged` says whether the judge of tool calls looks at a call before it runs, unless the node configuration says ' +
      'otherwise. `Repeatable` calls are made again where a replica died during one.',
    table([...catalogue.values()]),
  ];
  return `${parts.join('\n\n')}\n`;
}

const table = (rows: readonly ToolRow[]): string =>
  [
    '| Tool | Effect and result | Arguments | Judged | Repeatable | Fleet |',
    '|---|---|---|---|---|---|',
    ...rows.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(line),
  ].join('\n');

function line(row: ToolRow): string {
  const marks = [!row.skip_judge, row.idempotent, row.fleet_capable].map((is) => (is ? 'yes' : 'no'));
  return `| ${[`\`${row.name}\``, cell(row.description), argumentsOf(row), ...marks].join(' | ')} |`;
}

function argumentsOf({ input_schema: { properties, required = [] } }: ToolRow): string {
  const fields = Object.entries(properties as Readonly<Record<string, { readonly description?: string }>>);
  if (fields.length === 0) return 'none';
  return fields
    .map(([name, { description = '' }]) => {
      const shown = required.includes(name) ? `**\`${name}\`**` : `\`${name}\``;
      return `${shown}: ${cell(description)}`;
    })
    .join('<br>');
}
