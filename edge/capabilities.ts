import { platform } from 'node:os';
import { durationOf } from '../lib/edge/index.ts';
import type { EdgeCapabilities } from '../proto/generated/windlass/node/v1/node.ts';
import type { LocalConfig } from './config/schema.ts';
import { archName } from './tools/host-info.ts';

/**
 * The host's report of itself: its system, its tools, its folders, the labels of its configuration, and its owner's limit
 * for the time of a command.
 */
export const capabilitiesOf = (
  tools: readonly string[],
  { mounts = [], labels = {}, command_timeout_secs: most }: LocalConfig,
): EdgeCapabilities => ({
  os: platform(),
  arch: archName(),
  localTools: [...tools],
  mountPoints: mounts.map(({ path }) => path),
  customLabels: { ...labels },
  commandTimeout: most === undefined ? undefined : durationOf(most * 1_000),
});
