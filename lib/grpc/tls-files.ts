import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../clock.ts';
import { AppError, messageOf } from '../errors.ts';
import type { Logger } from '../logger.ts';

/** Paths of a server's certificate and its key, in PEM. */
interface ServerTlsPaths {
  readonly certificate: string;
  readonly key: string;
}

/** The same with the authorities of the server's clients. */
export interface TlsPaths extends ServerTlsPaths {
  readonly clientAuthorities: string;
}

/** Contents of the files. */
export interface ServerTlsFiles {
  readonly cert: string;
  readonly key: string;
}
export interface TlsFiles extends ServerTlsFiles {
  readonly ca: string;
}

interface TlsFilesDeps {
  readonly readFile: (path: string) => Promise<string>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How often the files are read; a Secret that changes takes a minute to reach its pods anyway. */
const rereadMs = 10_000;

/** Reads the files and makes sure that they can be used together. Throws AppError `invalid` that names the problem. */
export async function readTlsFiles(paths: TlsPaths, deps: Pick<TlsFilesDeps, 'readFile'>): Promise<TlsFiles> {
  const { certificate, key, clientAuthorities } = paths;
  const [cert = '', keyText = '', ca = ''] = await readAll([certificate, key, clientAuthorities], deps);
  // Without any authority of ours TLS would fall back to those of the public web.
  requireCertificates(clientAuthorities, ca);
  const files = { cert, key: keyText, ca };
  requirePair(paths, files);
  return files;
}

/** The same for a server that asks its clients for no certificate. */
export async function readServerTls(
  paths: ServerTlsPaths,
  deps: Pick<TlsFilesDeps, 'readFile'>,
): Promise<ServerTlsFiles> {
  const [cert = '', key = ''] = await readAll([paths.certificate, paths.key], deps);
  requirePair(paths, { cert, key });
  return { cert, key };
}

function readAll(paths: readonly string[], { readFile }: Pick<TlsFilesDeps, 'readFile'>): Promise<string[]> {
  return Promise.all(paths.map((path) => readFile(path))).catch((error: unknown) => {
    throw unusable(messageOf(error), error);
  });
}

function requirePair(paths: ServerTlsPaths, files: ServerTlsFiles): void {
  requireCertificates(paths.certificate, files.cert);
  try {
    createSecureContext({ ...files });
    if (!new X509Certificate(files.cert).checkPrivateKey(createPrivateKey(files.key))) throw new Error('wrong key');
  } catch (error) {
    throw unusable(`${paths.key} is not the key of ${paths.certificate}`, error);
  }
}

/**
 * Tells `onChange` of every usable change of the files until `signal` aborts. An unusable state, such as half of an
 * exchange, is logged once and changes nothing. Never rejects. `read` is one of the functions above.
 */
export async function followTlsFiles<T extends ServerTlsFiles>(
  read: () => Promise<T>,
  { current, onChange }: { readonly current: T; readonly onChange: (files: T) => void },
  { signal, clock, logger }: Pick<TlsFilesDeps, 'clock' | 'logger'> & { readonly signal: AbortSignal },
): Promise<void> {
  let known = JSON.stringify(current);
  let problem = '';
  while (!signal.aborted) {
    await clock.sleep(rereadMs, signal);
    try {
      const files = await read();
      problem = '';
      if (JSON.stringify(files) === known) continue;
      known = JSON.stringify(files);
      onChange(files);
      logger.info({ notAfter: new X509Certificate(files.cert).validTo }, 'certificates reloaded');
    } catch (error) {
      if (messageOf(error) !== problem) logger.warn({ problem: messageOf(error) }, 'certificates not usable');
      problem = messageOf(error);
    }
  }
}

const block = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

function requireCertificates(path: string, pem: string): void {
  const blocks = pem.match(block) ?? [];
  if (blocks.length === 0) throw unusable(`${path} holds no certificate`);
  for (const text of blocks) {
    try {
      new X509Certificate(text);
    } catch (error) {
      throw unusable(`${path} holds a certificate that cannot be read`, error);
    }
  }
}

const unusable = (why: string, cause?: unknown): AppError =>
  new AppError('invalid', `the certificates of gRPC cannot be used: ${why}`, { reason: 'TlsInvalid', cause });
