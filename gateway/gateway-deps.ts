import type { Clock } from '../lib/clock.ts';
import type { OutputReader } from '../lib/execution/output-reader.ts';
import type { NewId } from '../lib/ids.ts';
import type { KubeClient } from '../lib/kube/index.ts';
import type { OpenApiReader } from '../lib/manifest/index.ts';
import type { NodeConfig } from '../lib/node-config/index.ts';
import type { Logger } from '../lib/logger.ts';
import type { ProcessRuntime } from '../lib/process/process-runtime.ts';
import type { ServerMetrics } from '../lib/process/server-metrics.ts';
import type { Resolve } from '../lib/tools/web/vetted-agent.ts';
import type { GatewayConfig } from './config.ts';

/** Parts that one replica of the gateway is made of. */
export interface GatewayDeps {
  readonly config: GatewayConfig;
  readonly logger: Logger;
  readonly metrics: ServerMetrics;
  readonly clock: Clock;
  readonly kube: KubeClient;
  readonly runtime: ProcessRuntime;
  /** Reads what executions have stored. */
  readonly outputs: OutputReader;
  readonly newId: NewId;
  /** Reads documents of APIs in threads of their own. */
  readonly openApi: OpenApiReader;
  /** The gateway calls its MCP servers, and nothing else of it. */
  readonly nodeConfig: Pick<NodeConfig, 'mcp_servers'>;
  /** Every address of a name. */
  readonly resolve: Resolve;
  /** Reads the program of the page `/docs`. */
  readonly readDocsScript: () => Promise<string>;
  /** Text of a file that a setting names. */
  readonly readFile: (path: string) => string;
  /** Called once, when everything is loaded and no request has come. */
  readonly onLoaded: () => void;
}
