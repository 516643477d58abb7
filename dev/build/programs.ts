/** The programs of the image: file name in the bundle → entry module. */
export const programs = {
  /** The controllers' process. */
  controllers: 'controllers/main.ts',
  /** The thread beside it (`keeperFile` in controllers/main.ts). */
  'controllers-keeper': 'controllers/runtime/keeper/thread.ts',
  /** The HTTP API. */
  api: 'api/main.ts',
  /** The tool gateway. */
  gateway: 'gateway/main.ts',
  /** The relay of edge hosts. */
  relay: 'relay/main.ts',
  /** The daemon of edge hosts, so that a pod can be one. */
  'windlass-edge': 'edge/main.ts',
  /** The thread of the API that reads manifests. */
  'manifest-worker': 'lib/manifest/manifest-worker.ts',
  /** The thread of API and daemon that turns pages into Markdown. */
  'markdown-worker': 'lib/tools/web/markdown-worker.ts',
  /** The command line. */
  windlass: 'cli/main.ts',
} as const;
