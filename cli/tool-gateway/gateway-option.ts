import type { Command } from 'commander';

/** Where the tool gateway is; every command for it has this option. */
export const withGateway = (command: Command): Command =>
  command.option('--gateway <url>', 'address of the tool gateway; by default WINDLASS_GATEWAY');
