import { describe, expect, it } from 'vitest';
import { commandsOf, pages } from './support/pages.ts';

/** Variables that each shell has, or that a remark of the page explains. */
const known = new Set(['HOME', 'PATH', 'RANDOM', 'KUBECONFIG', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME']);

/** Pages whose first sentences say that they continue in the shell of another page. */
const continues: Readonly<Record<string, string>> = {
  'docs/billing.md': 'docs/api.md',
  'docs/stimuli.md': 'docs/api.md',
};

function undefinedVariables(page: string): readonly string[] {
  const before = continues[page];
  const defined = new Set(known);
  const missing: string[] = [];
  for (const command of [...(before === undefined ? [] : commandsOf(before)), ...commandsOf(page)]) {
    // Single quotes keep a shell from expanding; `"'"$x"'"` leaves them for a moment.
    const expanded = command.replaceAll(/"'("\$\w+")'"/g, '$1').replaceAll(/'[^']*'/g, "''");
    for (const [, name = ''] of expanded.matchAll(/\$\{?([A-Za-z_]\w*)/g)) if (!defined.has(name)) missing.push(name);
    for (const [, name = ''] of command.matchAll(/(?:^|[\s(])([A-Za-z_]\w*)=/g)) defined.add(name);
    for (const [, name = ''] of command.matchAll(/^(?:while )?read (?:-\w+ )*(\w+)/g)) defined.add(name);
  }
  return missing;
}

describe('commands of the pages', () => {
  it.each(['README.md', 'docs/gateway.md', 'docs/edge.md', 'examples/order-desk/README.md'])(
    '%s is for pasting, so it has commands',
    (page) => expect(commandsOf(page).length).toBeGreaterThan(5),
  );

  it.each(pages.filter((page) => !page.startsWith('docs/reference/')))(
    '%s defines a variable before it uses it',
    (page) => {
      expect(undefinedVariables(page)).toEqual([]);
    },
  );

  it.each(pages)('%s lets curl show the body of an error', (page) => {
    const calls = commandsOf(page).filter((command) => /(^|[\s($|])curl\s/.test(command) && !command.startsWith('#'));
    expect(calls.filter((command) => !command.includes('--fail-with-body'))).toEqual([]);
  });

  it.each(pages)('%s writes keys and tokens to files that only their owner reads', (page) => {
    const writes = commandsOf(page).filter((command) => />\s*\S*(token|key\.pem|\.key|secret)\b/.test(command));
    expect(writes.filter((command) => !command.includes('umask 077'))).toEqual([]);
  });
});
