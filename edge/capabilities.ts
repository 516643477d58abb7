import { platform } from 'node:os';
import type { EdgeCapabilities } from '../proto/generated/windlass/node/v1/node.ts';
import type { LocalConfig } from './config/schema.ts';
import { archName } from './tools/host-info.ts';

/** The host's report of itself: its system, its tools, its folders, and the labels of its configuration. */
export const capabilitiesOf = (
  tools: readonly string[],
  { mounts = [], labels = {} }: LocalConfig,
): EdgeCapabilities => ({
  os: platform(),
  arch: archName(),
  localTools: [...tools],
  mountPoints: mounts.map(({ path }) => path),
  customLabels: { ...labels },
});
