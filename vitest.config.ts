import { defineConfig } from 'vitest/config';
import { LongestFirst } from './dev/test/longest-first.ts';

const ignored = ['**/node_modules/**', '**/dist/**', '**/.build/**'];

/** Unit tests are beside the code and need nothing; cluster tests need the development cluster (`make up`). */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            '{crds,lib,controllers,api,gateway,relay,edge,client,cli,dev}/**/*.test.ts',
            'test/{contract,hostile,inference,replay}/**/*.test.ts',
          ],
          exclude: ignored,
          isolate: false,
          // By itself Vitest leaves one processor free, which of two is half of them.
          maxWorkers: '100%',
          // Concurrent tests of a file wait for the most part.
          maxConcurrency: 8,
          // Tests wait for conditions. On a machine shared with others, those of two files take three times as long.
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'cluster',
          include: ['test/cluster/**/*.test.ts'],
          exclude: ignored,
          globalSetup: 'test/cluster/harness/bundle-programs.ts',
          // dev/test/run lets two files run at a time where neither touches what the other sees.
          maxWorkers: 1,
          // A machine shared with others can stall a kubelet for longer than a test waits; dev/test/run names what was tried again.
          retry: 1,
          testTimeout: 180_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
