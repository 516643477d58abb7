import type { Command } from 'commander';
import { repeatable } from '../launch.ts';
import { parsePairs } from '../parse-pairs.ts';

/** Options that choose hosts by what they are. */
export interface SelectorOptions {
  readonly os?: string;
  readonly tag?: readonly string[];
  readonly label?: readonly string[];
  readonly hasTool?: readonly string[];
}

/** A selector as the API takes it. */
export interface Selector {
  readonly os?: string;
  readonly tools?: readonly string[];
  readonly tags?: readonly { readonly Has: string }[];
  readonly labels?: readonly { readonly Equals: Readonly<Record<string, string>> }[];
}

export function withSelectorOptions(command: Command): Command {
  return command
    .option('--os <name>', 'hosts of this operating system, such as linux')
    .option('--tag <tag>', 'hosts with this tag; may be repeated', repeatable)
    .option('-l, --label <key=value>', 'hosts with this label; may be repeated', repeatable)
    .option('--has-tool <tool>', 'hosts that run this tool; may be repeated', repeatable);
}

/** The selector of the options; undefined where they choose nothing. Throws a usage error for a label without `=`. */
export function selectorOf({ os, tag, label, hasTool }: SelectorOptions): Selector | undefined {
  parsePairs(label ?? [], '--label');
  const selector = {
    ...(os !== undefined && { os }),
    ...(hasTool !== undefined && { tools: hasTool }),
    ...(tag !== undefined && { tags: tag.map((Has) => ({ Has })) }),
    ...(label !== undefined && { labels: label.map(labelOf) }),
  };
  return Object.keys(selector).length === 0 ? undefined : selector;
}

/** Values of labels are text, whatever they look like. */
function labelOf(pair: string): { readonly Equals: Readonly<Record<string, string>> } {
  const equals = pair.indexOf('=');
  return { Equals: { [pair.slice(0, equals)]: pair.slice(equals + 1) } };
}
