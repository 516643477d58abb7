import type { Readable } from 'node:stream';
import type { Clock } from '../lib/clock.ts';
import type { OutputReader } from '../lib/execution/output-reader.ts';
import type { NewId } from '../lib/ids.ts';
import type { KubeClient } from '../lib/kube/index.ts';
import type { Logger } from '../lib/logger.ts';
import type { ManifestReader } from '../lib/manifest/index.ts';
import type { NodeConfig } from '../lib/node-config/index.ts';
import type { ProcessRuntime } from '../lib/process/process-runtime.ts';
import type { ToolRuns } from '../lib/tools/toolbox.ts';
import type { AnswerRoom } from '../lib/tools/web/answer-room.ts';
import type { ApiConfig } from './config.ts';
import type { ServerMetrics } from '../lib/process/server-metrics.ts';
import type { WebhookSecrets } from './routes/webhooks/secrets.ts';

/** Parts of one replica of the API. */
export interface ApiDeps {
  readonly config: ApiConfig;
  readonly logger: Logger;
  readonly metrics: ServerMetrics;
  readonly clock: Clock;
  readonly kube: KubeClient;
  readonly runtime: ProcessRuntime;
  readonly newId: NewId;
  /** The script of the package openapi-explorer, from its beginning each time. */
  readonly readDocsScript: () => Promise<string>;
  readonly webhookSecrets: WebhookSecrets;
  readonly nodeConfig: NodeConfig;
  readonly outputs: OutputReader;
  /** Reads in threads of its own; ended by its maker. */
  readonly manifests: ManifestReader;
  /** Runner of the web tools. */
  readonly webTools: ToolRuns;
  /** Room for the large pages and answers that tools read. */
  readonly largeAnswers: AnswerRoom;
  /** Everything is there that a request may need, and none has come yet. */
  readonly onLoaded: () => void;
  /** Standard input, touched only when a sensor reads it. */
  readonly stdin: () => Readable;
  readonly readFile: (path: string) => Promise<string>;
}
